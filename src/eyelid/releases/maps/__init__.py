"""Private maps of gaze: plan, release, files, pictures, cost, audit."""
