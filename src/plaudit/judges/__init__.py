"""Language models as judges: rubrics in files, verdicts that carry the code of their call, and failures that say so."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
