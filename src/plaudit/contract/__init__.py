"""What a reward is: its output, how it is called, and the arithmetic on rewards."""
