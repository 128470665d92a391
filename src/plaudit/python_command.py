"""The command of a Python process of our own: it looks for modules where this one does, and nowhere else.

Python puts the working folder before everything else for `-m` and `-c`: a reward in a file random.py there would be
what the standard library gets when it imports its own. Depends on nothing, since processes start with it.
"""

import json
import sys

__all__ = ["python_command"]

_START = (
    "import importlib, json, sys; given = json.loads(sys.argv[1]); sys.path[:] = given[0]; "
    "getattr(importlib.import_module(given[1]), given[2])(*given[3:])"
)


def python_command(module: str, function: str, *arguments: str | int, options: tuple[str, ...] = ()) -> list[str]:
    """What calls a function of a module, with plain arguments, in a new process."""
    given = json.dumps([sys.path, module, function, *arguments])
    return [sys.executable, "-P", *options, "-c", _START, given]
