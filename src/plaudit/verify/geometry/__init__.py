"""Verifiers of places in images: boxes and points."""
