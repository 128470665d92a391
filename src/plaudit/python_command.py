"""The command of a Python process of our own, which looks for modules nowhere near the working folder.

Python puts the working folder before everything else for `-m` and `-c`: a reward in a file random.py there would be
what the standard library gets when it imports its own. Whoever wants the search path of this process sends it along.
Depends on nothing, since processes start with it.
"""

import json
import os
import sys

__all__ = ["python_command"]

_HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_START = (
    "import sys; sys.path.append(sys.argv[1]); import importlib, json; given = json.loads(sys.argv[2]); "
    "getattr(importlib.import_module(given[0]), given[1])(*given[2:])"
)


def python_command(module: str, function: str, *arguments: str | int) -> list[str]:
    """What calls a function of a module of plaudit, with plain arguments, in a new process."""
    environment = ("-I",) if sys.flags.isolated else ("-E",) if sys.flags.ignore_environment else ()
    given = json.dumps([module, function, *arguments])
    return [sys.executable, "-P", *environment, "-c", _START, _HOME, given]
