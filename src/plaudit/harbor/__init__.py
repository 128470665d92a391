"""Harbor tasks: run them in workspaces of their own, check them, attack their verifiers, exchange rewards with them."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
