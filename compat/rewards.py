"""The rewards of the conformance suite: one of samples, one of groups, and one with every fault."""

import time

from plaudit import reward


@reward
def quality(response, ground_truth):
    """Right or not, and a little for brevity."""
    return 0.7 * float(ground_truth in response) + 0.3 / (1 + len(response.split()))


@reward(scope="group")
def rank(responses):
    """The share of the group that is no longer than the response."""
    return [sum(len(other) <= len(each) for other in responses) / len(responses) for each in responses]


@reward
def faulty(response, ground_truth):
    """Hangs, raises or gives None where the response says so."""
    if "hang" in response:
        time.sleep(600)
    if "raise" in response:
        raise RuntimeError("as asked for")
    return None if "none" in response else float(ground_truth in response)
