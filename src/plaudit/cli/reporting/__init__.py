"""Commands that show what a reward did."""
