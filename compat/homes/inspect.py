"""Inspect: an evaluation with its mock model, scored by the exported scorer; its own scorers."""

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match
from inspect_ai.solver import generate
from suite import Shipped, load_shim

SYSTEM, DISTRIBUTION = "inspect", "inspect-ai"
RAN = "inspect_ai.eval with mockllm"


def evaluate(scorer, rollouts):
    outputs = [ModelOutput.from_content("mockllm/model", each.response) for each in rollouts]
    for output in outputs:  # or Inspect would fetch a tokenizer to count them
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    task = inspect_ai.Task(
        dataset=[Sample(input=each.prompt, target=each.truth, id=place) for place, each in enumerate(rollouts, 1)],
        solver=generate(),
        scorer=scorer,
    )
    (log,) = inspect_ai.eval(
        task,
        model=get_model("mockllm/model", custom_outputs=outputs),
        max_samples=1,
        max_connections=1,
        display="none",
        log_dir="/tmp/plaudit_compat_inspect",
    )
    if log.status != "success":
        raise AssertionError(log.error.message)
    letters = {"C": 1.0, "I": 0.0}
    samples = sorted(log.samples, key=lambda sample: sample.id)
    return [letters.get(score.value, score.value) for sample in samples for score in sample.scores.values()]


FORMS = {"inspect": lambda shim, rollouts: evaluate(load_shim(shim).reward, rollouts)}


def shipped():
    for factory in (match, includes):
        yield Shipped(
            f"inspect_ai.scorer:{factory.__name__}()", lambda rollouts, factory=factory: evaluate(factory(), rollouts)
        )
