"""Score many trajectories."""

from plaudit.engine.scorer import Scored, Scorer
from plaudit.engine.scoring import score, score_stream

__all__ = ["Scored", "Scorer", "score", "score_stream"]
