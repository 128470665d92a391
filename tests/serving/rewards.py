"""Rewards for the servers of the tests: quick ones, and some that hang or crash."""

import math
import os
import time

from plaudit import RewardOutput, reward


@reward
def mark(response, ground_truth=None):
    """1.0 for the ground truth; a response may ask for a hang, a crash, an exception, a delay or None."""
    if response.startswith("hang"):
        time.sleep(60)
    if response.startswith("crash"):
        os._exit(3)
    if response.startswith("raise"):
        raise ValueError("no such thing")
    if response.startswith("slow"):
        time.sleep(0.2)
    if response.startswith("none"):
        return None
    return RewardOutput(float(response == ground_truth), score=float(response == ground_truth))


@reward
def batched(responses):
    """The number of responses of the call; hangs, or leaves out a response, where one asks for it."""
    if any(response.startswith("hang") for response in responses):
        time.sleep(60)
    return [float(len(responses)) for response in responses if not response.startswith("forget")]


@reward(scope="group")
def best_of_group(responses):
    """1.0 for the longest response of a group."""
    longest = max(map(len, responses))
    return [float(len(response) == longest) for response in responses]


@reward
def logged(response):
    """1.0, with the length of the response to log."""
    return RewardOutput(1.0, metadata={"length": len(response)})


@reward
def twin(response):
    """1.0; where a response asks for it, a child is forked that returns too, or the worker hangs for a while."""
    if response == "fork" and os.fork() == 0:
        time.sleep(0.1)
    if response == "hang":
        time.sleep(5)
    return 1.0


@reward(bounds=(0.0, math.inf))
def notes(response):
    """The length of a response, which is in the metadata where it is odd."""
    odd = {"half": "\ud800", "large": 2**70, "open": math.pi}
    return RewardOutput(float(len(response)), metadata={"odd": odd[response]} if response in odd else {})


@reward(scope="batch")
def share(responses):
    """One over the number of responses."""
    return [1 / len(responses)] * len(responses)
