"""Worlds: environments with a typed state, tools that change it, a user, and rewards that follow from the state."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
