"""Foreign reward files, written out and loaded as a user would."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from plaudit.loading import Loaded, resolve


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[..., Loaded]:
    """`loaded(source)` loads a file with that source; `name` picks one reward of several, `dialect` a convention."""

    def load(source: str, name: str | None = None, dialect: str | None = None) -> Loaded:
        path = tmp_path / "my_rewards.py"
        path.write_text(textwrap.dedent(source))
        return resolve(f"{path}:{name}" if name else str(path), dialect=dialect)

    return load
