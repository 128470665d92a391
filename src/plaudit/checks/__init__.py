"""Small checks to build rewards from: plain functions of text that return a number or a yes or no.

They know nothing of trajectories. A ground truth that is missing or no text and no number is an `InvalidTrajectory`,
never a 0.0: the model is not to blame for it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
