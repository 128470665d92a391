"""Models as rewards: classifiers, reward models, process reward models, embeddings, likelihoods.

Weights come from a folder, from a package that carries them, or from what the Hugging Face hub left on this machine;
nothing is downloaded. A model is loaded when it is first needed, once per process, and shared by all rewards that name
it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
