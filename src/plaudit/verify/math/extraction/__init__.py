"""Where a response states its answer, and what speaks against it."""
