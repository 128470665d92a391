"""Confinement of a process: system-call filter, Landlock, namespaces, limits, scratch space."""
