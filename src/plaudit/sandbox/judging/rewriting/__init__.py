"""Test texts made ready: which names are the program's, and each assertion counted for itself."""
