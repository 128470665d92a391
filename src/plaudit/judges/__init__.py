"""Language models as judges: rubrics in files, verdicts with the nonce of their call, failures as statuses."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
