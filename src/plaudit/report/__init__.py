"""What a run looked like: its statistics, telling samples, and both on a terminal."""
