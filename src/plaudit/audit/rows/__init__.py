"""Attacks on rows: an answer that is paid, and edits of it that must not be paid."""
