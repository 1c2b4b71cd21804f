"""Three papers as printed: their mechanisms, tables and figures, beside ours, measured honestly."""
