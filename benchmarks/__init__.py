"""Benchmarks: scripts to run by hand, each printing what it measured and the target it is held to."""
