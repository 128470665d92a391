"""Text to tree: one notation, tokens, and a reader with a budget."""
