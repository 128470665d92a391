"""Commands that score and look at scores."""
