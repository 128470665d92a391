"""`python benchmarks/math.py`: runs `math_verification.py`.

A script's folder is searched first, so every other benchmark that wants the standard library's math finds this file:
it then steps aside for the real one.
"""

import importlib
import sys

sys.path[:] = [folder for folder in sys.path if not folder.rstrip("/").endswith("benchmarks")]

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("benchmarks")[0] or ".")
    importlib.import_module("benchmarks.math_verification").main()
elif __name__ == "math":
    del sys.modules["math"]
    importlib.import_module("math")
