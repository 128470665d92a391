"""Where the key of an endpoint is: in an environment variable, or in a file.

The key itself is kept in no object. It is read when it is sent, so that it is never printed, logged or pickled, and a
worker on another machine reads its own.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from plaudit.errors import InvalidSettings

__all__ = ["KeySource"]


@dataclass(frozen=True, slots=True)
class KeySource:
    """The name of a variable or the path of a file; neither, for an endpoint without keys."""

    variable: str | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if self.variable is not None and self.file is not None:
            raise InvalidSettings("say api_key_env or api_key_file, not both")

    def read(self) -> str | None:
        """The key, or an error that names where it was looked for."""
        if self.variable is not None:
            key = os.environ.get(self.variable, "").strip()
            if not key:
                raise InvalidSettings(f"the environment variable {self.variable} holds no key; set it, or api_key_file")
        elif self.file is not None:
            try:
                key = Path(self.file).expanduser().read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise InvalidSettings(f"cannot read the key in {self.file}: {type(error).__name__}") from None
            if not key:
                raise InvalidSettings(f"the file {self.file} holds no key")
        else:
            return None
        if not key.isascii() or not key.isprintable() or " " in key:
            raise InvalidSettings(f"{self.variable or self.file} does not hold a key: a key is one printable word")
        return key
