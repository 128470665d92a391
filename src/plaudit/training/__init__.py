"""Train with a reward: prompts are sampled, responses are scored, and the policy learns from the advantages.

Names are imported when first used, so that `plaudit.training.GRPOAdvantage` needs no torch; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
