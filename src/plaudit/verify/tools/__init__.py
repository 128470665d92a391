"""Tool calls: read them from a response, and compare them with the expected ones."""
