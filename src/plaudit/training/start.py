"""What a run begins with beside its config: what every engine is handed by `plaudit.training.train`."""

from dataclasses import dataclass, field

from plaudit.contract.function import Rewarding
from plaudit.training.watching import Silence, Watch

__all__ = ["Start"]


@dataclass(frozen=True, slots=True)
class Start:
    """A reward in place of the config's, what to do with a run that is in the folder already, and who watches."""

    reward: Rewarding | None = None
    resume: bool = False
    overwrite: bool = False
    watch: Watch = field(default_factory=Silence)
