"""Tunix: its reward manager, and the functions of its GSM8K example."""

from dataclasses import dataclass

from suite import Shipped, load_shim
from tunix.cli.reward_fn import gsm8k
from tunix.rl.reward_manager import SequenceRewardManager

SYSTEM, DISTRIBUTION = "tunix", "google-tunix"
RAN = "SequenceRewardManager; the functions of its gsm8k rewards"


@dataclass
class Config:
    """What the manager looks parameters up in."""

    beta: float = 0.0


def managed(functions, rollouts):
    manager = SequenceRewardManager(functions, Config())
    prompts, completions = [each.prompt for each in rollouts], [each.response for each in rollouts]
    return manager(prompts, completions, answer=[each.truth for each in rollouts])["rewards"].tolist()


def from_file(shim, rollouts):
    module = load_shim(shim)
    functions = [
        each for name, each in vars(module).items() if not name.startswith("_") and type(each).__name__ == "function"
    ]
    return managed(functions, rollouts)


FORMS = {"tunix": from_file}


def shipped():
    for name in ("match_format_exactly", "match_format_approximately", "check_answer", "check_numbers"):
        if hasattr(gsm8k, name):
            function = getattr(gsm8k, name)
            yield Shipped(
                f"tunix.cli.reward_fn.gsm8k:{name}",
                lambda rollouts, function=function: managed([function], rollouts),
                dialect="tunix",
            )
