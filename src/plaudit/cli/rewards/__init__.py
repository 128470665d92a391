"""Commands for those who write rewards: list, test, check."""
