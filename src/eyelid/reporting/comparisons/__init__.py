"""Mechanisms side by side: what came of each release, with its table, its plane and its page."""
