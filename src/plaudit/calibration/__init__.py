"""Calibrate language models as judges: agreement with people, biases, attacks on rubrics, and certificates."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
