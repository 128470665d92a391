"""`pytester` runs pytest inside tests: the plug-in is tested as users meet it."""

pytest_plugins = ["pytester"]
