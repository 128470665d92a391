"""Reports of a run: its statistics, a few samples, and both on a terminal."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
