"""Rewards of plaudit as functions for other trainers: `export`, and `write_shim` for a file that a trainer imports."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
