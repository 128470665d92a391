"""One server for most tests: two workers, a deadline of a second and a half."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from plaudit.serving import ServerSettings, ServerThread

REWARDS = Path(__file__).parent / "rewards.py"


def settings(*rewards: str, **more) -> ServerSettings:
    specs = tuple(f"{REWARDS}:{name}" for name in rewards)
    return ServerSettings(**{"rewards": specs, "port": 0, "workers": 2, "deadline_s": 1.5, **more})


@pytest.fixture(scope="session")
def server() -> Iterator[ServerThread]:
    with ServerThread(settings("mark", "batched", "best_of_group")) as running:
        yield running
