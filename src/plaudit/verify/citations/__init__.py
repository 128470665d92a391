"""Verifiers of answers from passages: citations and quotes."""
