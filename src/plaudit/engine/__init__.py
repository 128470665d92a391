"""Score many trajectories."""

from plaudit.engine.scoring import Scored, score, score_stream

__all__ = ["Scored", "score", "score_stream"]
