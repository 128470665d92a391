"""Rewards and agents by spec: files, modules, built-ins with arguments, expressions, YAML composites and plug-ins."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
