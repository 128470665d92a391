"""What the processes of a server do: run programs, or judge them. A server is started with one service."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

__all__ = ["ServerSettings", "Service"]


@dataclass(frozen=True, slots=True)
class Service:
    """One kind of work, as a server needs to know it.

    `make` gives the function that a forked process runs once its walls stand; `warm_up` runs through what it will do;
    `prepare` is told in the server what the next process will need, in bytes, and may keep it for those after it.
    """

    make: Callable[[], Callable[[], None]]
    warm_up: Callable[[], None]
    prepare: Callable[[bytes], None] | None = None
    is_judge: bool = False


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server is started: which service, what it imports, which walls, and where it finds things."""

    service: str  # the module that has it as SERVICE
    package: str  # the folder of plaudit
    paths: Sequence[str]  # where modules besides the standard library are found
    modules: Sequence[str]
    at_most: int
    control: int
    scratch_mb: int = 0
    folder: str = ""  # for scratch space that cannot be mounted
    core: int | None = None

    def to_json(self) -> str:
        """The settings as the one argument of the server's process."""
        return json.dumps(asdict(self))
