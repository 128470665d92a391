"""Environments with planted bugs, and sound ones, for the audit of environments."""
