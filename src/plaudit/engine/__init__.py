"""Score many trajectories."""

from plaudit.engine.caching.cache import Cache
from plaudit.engine.endpoint import EndpointPolicy, guarded
from plaudit.engine.scored import Scored
from plaudit.engine.scorer import Scorer, score
from plaudit.engine.stats import ScorerStats

__all__ = ["Cache", "EndpointPolicy", "Scored", "Scorer", "ScorerStats", "guarded", "score"]
