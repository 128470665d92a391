"""Serve rewards over HTTP, in the protocols that trainers speak."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
