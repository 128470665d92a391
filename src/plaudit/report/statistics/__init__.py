"""Statistics of scored samples: pure functions of columns of numbers, and of some of the responses."""
