"""Prove the contract of a reward: what it promises on every response, whatever a model writes."""
