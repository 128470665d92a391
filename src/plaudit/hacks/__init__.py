"""Rewards with one planted bug each that the embedded model learns to exploit in seconds, and sound controls.

Names are imported when first used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
