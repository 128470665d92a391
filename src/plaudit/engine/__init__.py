"""Score many trajectories."""

from plaudit.engine.scorer import Scored, Scorer, score

__all__ = ["Scored", "Scorer", "score"]
