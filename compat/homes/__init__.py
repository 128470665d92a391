"""How each package calls a reward: its own call path, from a shim to numbers."""
