"""verl: its reward managers, loaded by its own config (reward loop), and the batch manager."""

import asyncio
import importlib

import numpy as np
import torch
from omegaconf import OmegaConf
from suite import Rollout, Shipped, load_shim
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager
from verl.workers.reward_manager import get_reward_manager_cls

SYSTEM, DISTRIBUTION = "verl", "verl"
RAN = "load_reward_manager and run_single of the reward loop's naive manager; the batch reward manager"


class Letters:
    """A tokenizer whose tokens are characters."""

    def decode(self, ids, skip_special_tokens=True):
        return "".join(map(chr, ids.tolist()))


def data_of(rollouts: list[Rollout]) -> DataProto:
    width = max(len(each.response) for each in rollouts)
    responses = torch.zeros(len(rollouts), width, dtype=torch.long)
    for row, each in enumerate(rollouts):
        responses[row, : len(each.response)] = torch.tensor([ord(letter) for letter in each.response])
    prompts = torch.ones(len(rollouts), 1, dtype=torch.long)
    mask = torch.cat([prompts, (responses > 0).long()], dim=1)
    columns = {
        "data_source": np.array(["sums"] * len(rollouts), dtype=object),
        "reward_model": np.array([{"ground_truth": each.truth} for each in rollouts], dtype=object),
        "extra_info": np.array([{"index": each.group, "question": each.prompt} for each in rollouts], dtype=object),
    }
    tensors = {"prompts": prompts, "responses": responses, "attention_mask": mask}
    return DataProto.from_dict(tensors=tensors, non_tensors=columns)


def reward_loop(shim, rollouts):
    """As RewardLoopWorker.compute_score_batch and RewardLoopManager.compute_rm_score do."""
    config = OmegaConf.create(
        {
            "reward": {
                "custom_reward_function": {"path": str(shim), "name": "compute_score", "reward_kwargs": {}},
                "reward_manager": {"source": "register", "name": "naive"},
            }
        }
    )
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    manager = load_reward_manager(config, Letters())
    data = data_of(rollouts)

    async def run():
        return await asyncio.gather(*(manager.run_single(data[row : row + 1]) for row in range(len(data))))

    outputs = loop.run_until_complete(run())
    keys = list(outputs[0]["reward_extra_info"])
    for key in keys:
        np.array([output["reward_extra_info"][key] for output in outputs])
    scores = manager.assemble_rm_scores(data, [output["reward_score"] for output in outputs])
    return scores.sum(dim=-1).tolist()


def batch_manager(shim, rollouts):
    manager = get_reward_manager_cls("batch")(Letters(), 0, load_shim(shim).compute_score)
    return manager(data_of(rollouts), return_dict=True)["reward_tensor"].sum(dim=-1).tolist()


FORMS = {"verl": reward_loop, "verl:async": reward_loop, "verl:batch": batch_manager}


def shipped():
    for name in ("gsm8k", "math_reward", "geo3k"):
        module = f"verl.utils.reward_score.{name}"

        def home(rollouts, module=module):
            score = importlib.import_module(module).compute_score
            return [score(each.response, each.truth) for each in rollouts]

        try:
            importlib.import_module(module)
        except ImportError:
            continue
        yield Shipped(f"{module}:compute_score", home)
