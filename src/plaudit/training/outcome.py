"""How a training run ended."""

from dataclasses import dataclass
from typing import Any

from plaudit.training.run_folder import RunFolder

__all__ = ["Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The last step of a run, and the evaluations before the first and after the last one."""

    folder: RunFolder
    step: int
    before: dict[str, float]
    after: dict[str, float]
    stopped_by: str | None = None
    """The signal that ended it early; it can be resumed."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        told = {"output_dir": str(self.folder.path), "step": self.step, "before": self.before, "after": self.after}
        return told if self.stopped_by is None else {**told, "stopped_by": self.stopped_by}
