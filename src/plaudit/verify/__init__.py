"""Is this answer right? Pure functions: the math verifier, and the verifiers of the catalogue."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
