"""An answer over HTTP that is none: a status that is not 200, with what the server said."""

from collections.abc import Mapping

__all__ = ["HttpRefusal"]


class HttpRefusal(Exception):
    """A server answered with an HTTP status that is not 200; it is in `status`."""

    def __init__(self, status: int, words: str, headers: Mapping[str, str]) -> None:
        super().__init__(words)
        self.status, self.headers = status, dict(headers)
