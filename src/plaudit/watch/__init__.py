"""Look at a run while it trains: groups that teach nothing, length, one component, copies, phrases that pay.

Names are imported when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
