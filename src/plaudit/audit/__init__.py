"""Attack rewards before a policy does: what they pay for without the task being solved, with the shortest proof.

Names are imported when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
