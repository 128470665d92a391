"""Samplers: a model's responses to prompts, as trajectories with tokens and log-probabilities."""
