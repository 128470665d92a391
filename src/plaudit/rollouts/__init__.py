"""The rollouts file: write, read, resume, never lose a line."""

from plaudit.rollouts.reading import BadLine, RolloutsReader, read_rollouts
from plaudit.rollouts.resuming import Completed, check_resumable, completed, rest_of
from plaudit.rollouts.rollout import Rollout, ScoredRollout
from plaudit.rollouts.run_record import RunRecord, record_path
from plaudit.rollouts.writing import Mode, RolloutsWriter

__all__ = [
    "BadLine",
    "Completed",
    "Mode",
    "Rollout",
    "RolloutsReader",
    "RolloutsWriter",
    "RunRecord",
    "ScoredRollout",
    "check_resumable",
    "completed",
    "read_rollouts",
    "record_path",
    "rest_of",
]
