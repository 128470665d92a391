"""Prompts: read from files, filled into templates, split and taken in order."""
