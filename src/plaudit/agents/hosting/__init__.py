"""Where environments run: in this process, or each in a process of its own that a deadline can kill."""
