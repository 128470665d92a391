"""Reward functions for reinforcement learning of language models: write once, test, score, train.

Names and packages are imported when first used, so that `import plaudit` stays light; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
