"""Score many trajectories."""

from plaudit.engine.scoring import score, score_stream

__all__ = ["score", "score_stream"]
