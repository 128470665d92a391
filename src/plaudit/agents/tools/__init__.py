"""Tools: calls found in what a model wrote, and environments whose actions are calls."""
