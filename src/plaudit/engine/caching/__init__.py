"""Scores kept on disk, found again by the content of reward and sample."""
