"""Settings of all tests. Helper modules are imported by their full names, as in `from tests.shared_data import rows`.

`pytester` runs pytest inside tests: the plug-in is tested as users meet it. What takes long is marked `slow`, so that
`make quick` leaves it out, and goes first in `make test`, so that at the end no worker waits for the other.
"""

import pytest

pytest_plugins = ["pytester"]

# What trains, starts Ray, loads a language model or runs hundreds of programs; slowest first, as `--durations` shows.
SLOW = (
    "tests/training/",
    "tests/engine/",
    "tests/test_docs.py::test_every_example_of_the_page_runs",
    "tests/systems/",
    "tests/sandbox/",
    "tests/rewards/test_forgeries",
    "tests/rewards/test_attacks",
    "tests/cli/training/",
)


def pytest_collection_modifyitems(items):
    """Mark the slow tests, and put them first."""
    ranks = {
        item: next((rank for rank, part in enumerate(SLOW) if item.nodeid.startswith(part)), len(SLOW))
        for item in items
    }
    for item in items:
        if ranks[item] < len(SLOW):
            item.add_marker(pytest.mark.slow)
    items.sort(key=ranks.__getitem__)
