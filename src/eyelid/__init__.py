"""eyelid makes eye-tracking data safe to share."""
