"""What keeps a process in: system-call filter, Landlock, namespaces, limits, scratch space."""
