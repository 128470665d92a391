"""Where a response states its answer, and the objections to it."""
