"""Take a run elsewhere, and commands of elsewhere here: `plaudit launch`, OpenRLHF's flags, jobs on Ray.

Names are imported when first used; `__init__.pyi` lists them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
