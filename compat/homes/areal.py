"""AReaL: its wrapper that calls rewards in a pool of processes, and its own rewards."""

import asyncio
import importlib

from areal.api.reward_api import AsyncRewardWrapper
from suite import Shipped, load_shim

SYSTEM, DISTRIBUTION = "areal", "areal"
RAN = "AsyncRewardWrapper (a process pool); its own rewards"


def wrapped(shim, rollouts):
    reward = AsyncRewardWrapper(load_shim(shim).reward, timeout_seconds=60, max_workers=1, max_retries=0)

    async def run():
        return [await reward(each.prompt, each.response, [1], [2], answer=each.truth) for each in rollouts]

    return asyncio.run(run())


FORMS = {"areal": wrapped}


def shipped():
    for module, name in (
        ("areal.reward.gsm8k", "gsm8k_reward_fn"),
        ("areal.reward.clevr_count_70k", "clevr_count_70k_reward_fn"),
    ):
        try:
            function = getattr(importlib.import_module(module), name)
        except ImportError:
            continue

        def home(rollouts, function=function):
            return [function(each.prompt, each.response, None, None, answer=each.truth) for each in rollouts]

        yield Shipped(f"{module}:{name}", home)
