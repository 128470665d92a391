"""The instruction types of IFBench."""
