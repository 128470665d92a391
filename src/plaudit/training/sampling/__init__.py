"""Samplers: a model's responses to prompts, as trajectories with tokens and log-probabilities."""

from plaudit.training.sampling.endpoint import EndpointSampler
from plaudit.training.sampling.in_process import TransformersSampler
from plaudit.training.sampling.sampler import Response, Sampled, Sampler, SamplingSettings
from plaudit.training.sampling.vllm import VLLMSampler

__all__ = [
    "EndpointSampler",
    "Response",
    "Sampled",
    "Sampler",
    "SamplingSettings",
    "TransformersSampler",
    "VLLMSampler",
]
