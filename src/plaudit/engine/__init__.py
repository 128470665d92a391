"""Score many trajectories: in this process, on worker processes, on a Ray cluster; with deadlines and a cache."""

from plaudit.engine.caching.cache import Cache, CacheStats
from plaudit.engine.caching.fingerprint import reward_key
from plaudit.engine.datasets import DatasetSummary, score_dataset
from plaudit.engine.endpoint.guard import guarded
from plaudit.engine.endpoint.policy import EndpointPolicy
from plaudit.engine.endpoint.usage import Usage
from plaudit.engine.exporting import export
from plaudit.engine.ray_data import score_ray_dataset
from plaudit.engine.scorer import Scorer, score
from plaudit.engine.stats import ScorerStats

__all__ = [
    "Cache",
    "CacheStats",
    "DatasetSummary",
    "EndpointPolicy",
    "Scorer",
    "ScorerStats",
    "Usage",
    "export",
    "guarded",
    "reward_key",
    "score",
    "score_dataset",
    "score_ray_dataset",
]
