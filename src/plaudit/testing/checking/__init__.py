"""Check the contract of a reward: its guarantees on every response, whatever a model writes."""
