"""The measures that text_similarity graders name, as plaudit has them.

The documentation names measures, not implementations: `plaudit.verify.similarity` says whose each one is.
"""

from plaudit.errors import InvalidSettings
from plaudit.verify.similarity import Measure, find_measure

__all__ = ["measure"]

_OTHER_NAMES = {"fuzzy_match": "fuzzy"}


def measure(name: str) -> Measure:
    """The function of (text, reference) that a name stands for."""
    if name == "cosine":
        raise InvalidSettings(
            "evaluation_metric 'cosine' needs a hosted embedding model; for a local one, use the reward `similarity` "
            "instead of a grader"
        )
    return find_measure(_OTHER_NAMES.get(name, name), "evaluation_metric")
