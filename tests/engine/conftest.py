"""One Ray of our own for all files of this folder, which `tests/conftest.py` makes one unit of work."""

from collections.abc import Iterator

import pytest

from plaudit.engine.backends.ray_session import RaySession


class SharedRay:
    """Two CPUs on this machine, started when first asked for: that takes seconds of processor time."""

    def __init__(self) -> None:
        self._session: RaySession | None = None

    def start(self) -> RaySession:
        if self._session is None:
            self._session = RaySession(None, 2)
        return self._session

    def end(self) -> None:
        if self._session is not None:
            self._session.leave()
            self._session = None


@pytest.fixture(scope="package")
def shared_ray() -> Iterator[SharedRay]:
    shared = SharedRay()
    yield shared
    shared.end()


@pytest.fixture
def local_ray(shared_ray) -> RaySession:
    """A test's share in the Ray of our own."""
    return shared_ray.start()


@pytest.fixture(scope="module")
def no_local_ray(shared_ray) -> None:
    """For files whose tests connect to Ray themselves: a process has one connection."""
    shared_ray.end()
