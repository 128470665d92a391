"""Verifiers of the text of a response: what it contains, how long it is, its language."""
