"""Score many trajectories: in this process, on worker processes, on a Ray cluster; with deadlines and a cache."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
