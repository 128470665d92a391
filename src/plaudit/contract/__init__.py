"""The contract of rewards: their output, how they are called, and the arithmetic on rewards."""
