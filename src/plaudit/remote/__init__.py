"""Rewards behind HTTP: one server or several, plaudit's or any that speaks OpenRLHF's protocol."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
