"""Shared by all tests; its place puts `tests/` on the import path, where `shared_data` lives.

`pytester` runs pytest inside tests: the plug-in is tested as users meet it.
"""

pytest_plugins = ["pytester"]
