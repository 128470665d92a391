"""Settings of all tests. Helper modules are imported by their full names, as in `from tests.shared_data import rows`.

`pytester` runs pytest inside tests: the plug-in is tested as users meet it. Files whose tests take long go first, so
that at the end no worker waits for the other.
"""

pytest_plugins = ["pytester"]

LONG = (
    "training/",
    "engine/",
    "test_docs",
    "systems/",
    "sandbox/",
    "rewards/test_forgeries",
    "rewards/test_attacks",
    "cli/",
)


def pytest_collection_modifyitems(items):
    def rank(item):
        return next((place for place, part in enumerate(LONG) if part in item.nodeid), len(LONG))

    items.sort(key=rank)
