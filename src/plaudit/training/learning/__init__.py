"""From rewards to better weights: credit, advantages, losses, updates."""
