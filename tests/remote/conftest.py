"""The server of tests/serving."""

from tests.serving.conftest import server

__all__ = ["server"]
