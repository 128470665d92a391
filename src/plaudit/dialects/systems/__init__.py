"""Other systems: how each writes rewards. Stubs that need no other packages are in the same file."""
