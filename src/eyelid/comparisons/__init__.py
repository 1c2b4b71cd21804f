"""Which release is the right one: mechanisms side by side, and the best for somebody's goals."""
