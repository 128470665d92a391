"""Test rewards like code: prove their contract, run tables of cases, in Python, from pytest, or on the command line.

Names are imported when first used: pytest imports this package in every project where plaudit is installed.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
