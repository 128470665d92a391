"""Worlds that are ready to use, with tasks and solutions."""
