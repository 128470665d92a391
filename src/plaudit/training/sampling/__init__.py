"""Samplers: a model's responses to prompts, as trajectories with tokens and log-probabilities."""

from plaudit.training.sampling.in_process import TransformersSampler
from plaudit.training.sampling.sampler import Response, Sampled, Sampler, SamplingSettings

__all__ = ["Response", "Sampled", "Sampler", "SamplingSettings", "TransformersSampler"]
