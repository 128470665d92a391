"""Agents: multi-turn episodes in environments, token-in-token-out.

Nothing here needs torch or a model: an episode only needs a sampler that continues token ids.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
