"""Training: plaudit's step against TRL's, and the demonstration over seeds.

`step` trains the same model on the same task with the same batches, steps, optimizer and loss in plaudit's loop and in
TRL's GRPOTrainer, in one process: they take steps in turn, so that both meet the same machine, and the ratio is the
median over pairs of steps in processor time, with everything each does in a step (evaluation, which either does at the
end, is no part of one). `--model` says which: `tiny`; `14m`, a larger one for the same task; `smollm2` and
`smollm2-lora` as examples/smollm2.yaml says. `memory` tells the peak memory of either side over three steps, each in a
process of its own. `seeds` runs the embedded default with several seeds. `tasks` trains the other built-in tasks as
their examples say. `async` compares training in turn with asynchronous training where the reward takes about as long as
the update. On a busy machine only the ratio means something.
"""

import argparse
import itertools
import multiprocessing
import re
import statistics
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from plaudit import RewardFunction, Trajectory, reward
from plaudit.errors import require
from plaudit.training import load_config, train
from plaudit.training.config.schema import ModelConfig, RunConfig
from plaudit.training.data.task_catalog import find_task
from plaudit.training.engine import Progress
from plaudit.training.evaluation import HeldOut
from plaudit.training.inputs import read_inputs
from plaudit.training.learning.optimizer import warm_start
from plaudit.training.model.loading import character_tokenizer
from plaudit.training.model.policy import Policy
from plaudit.training.run import Run, build_run

EXAMPLES = Path(__file__).parent.parent / "examples"
TASKS = ("addition", "follow_format", "length_control")
WAIT_S = 0.1
SKIPPED = 3
"""The first steps warm caches up on either side; of a short run, a quarter is left out."""
GROUPS = ["sampling.prompts_per_step=16", "sampling.samples_per_prompt=8", "eval.prompts=null"]
MODELS: dict[str, tuple[str | None, list[str]]] = {
    "tiny": (None, GROUPS),
    "14m": (None, [*GROUPS, "model.path={folder}/14m", "optimizer.lr=2e-4"]),
    "smollm2": ("smollm2.yaml", ["model.lora_rank=0", "optimizer.lr=1e-7", "eval.prompts=2"]),
    "smollm2-lora": ("smollm2.yaml", ["optimizer.lr=1e-6", "eval.prompts=2"]),
}
"""The config of each model: a file in examples/, and what is changed of it. SmolLM2 learns next to nothing, so that
both sides write responses of the same length to the end."""


class Turns:
    """Lets two threads go on in turn; one that has left is waited for no more."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._whose = 0
        self._gone: set[int] = set()

    def wait(self, side: int) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._whose == side or 1 - side in self._gone)

    def pass_on(self, side: int) -> None:
        with self._changed:
            self._whose = 1 - side
            self._changed.notify_all()
        self.wait(side)

    def leave(self, side: int) -> None:
        with self._changed:
            self._gone.add(side)
            self._changed.notify_all()


class Stopwatch(Progress):
    """Notes what steps take; it watches plaudit's runs. With `turns`, another run has its step in between."""

    def __init__(
        self, turns: Turns | None = None, side: int = 0, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.steps: list[float] = []
        self._turns, self._side, self._clock = turns, side, clock
        self._began = 0.0

    def end_step(self) -> None:
        self.steps.append(self._clock() - self._began)
        if self._turns:
            self._turns.pass_on(self._side)
        self._began = self._clock()

    def step(self, step: int, metrics: Mapping[str, float]) -> None:
        if step:
            self.end_step()

    @property
    def seconds_per_step(self) -> float:
        return statistics.median(self.counted)

    @property
    def counted(self) -> list[float]:
        return self.steps[min(SKIPPED, len(self.steps) // 4) :]


def run_config(model: str, folder: str, steps: int, seed: int) -> RunConfig:
    """The config both sides train with."""
    file, told = MODELS[model]
    told = [each.format(folder=Path(folder).parent) for each in told]
    told += [f"steps={steps}", f"seed={seed}", "checkpoint.every=0", "eval.every=0", "eval.greedy=false",
             "logging.samples=0", "training.reward_backend=inline", f"output_dir={folder}"]  # fmt: skip
    return load_config(None if file is None else EXAMPLES / file, told)


def write_14m(folder: Path) -> None:
    """A Llama of 14 million parameters for the embedded model's characters, warm-started as that one is."""
    tokenizer = character_tokenizer()
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=384, intermediate_size=1024, num_hidden_layers=8, num_attention_heads=6,
        num_key_value_heads=6, max_position_embeddings=256, pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id, bos_token_id=None, tie_word_embeddings=False,
    )  # fmt: skip
    policy = Policy(LlamaForCausalLM(config), tokenizer)
    warm_start(policy, find_task("sort_digits").demonstrations, ModelConfig(warm_start_steps=60, warm_start_lr=1e-3))
    policy.save(folder)


@reward
def digits(response: str) -> float:
    """The share of digits: it differs between samples whatever the model knows, so that every group teaches."""
    return sum(each.isdigit() for each in response) / (len(response) or 1)


def own_reward(config: RunConfig) -> Any:
    """The task's own reward, or the share of digits where there are data instead of a task."""
    return None if config.data.path is None else digits


def in_plaudit(config: RunConfig, watch: Stopwatch) -> float:
    """The held-out reward after training in plaudit's own loop."""
    return train(config, reward=own_reward(config), progress=watch, overwrite=True).after["eval/reward"]


def in_trl(config: RunConfig, watch: Stopwatch) -> float:
    """The same in TRL's GRPOTrainer, on the same warm-started model."""
    trl = require("trl", extra="trl", purpose="the comparison with TRL")
    datasets = require("datasets", extra="trl", purpose="the comparison with TRL")
    transformers = require("transformers", extra="train", purpose="the comparison with TRL")
    parts = build_run(config, read_inputs(config, own_reward(config)))
    parts.warm_start(Progress())

    class Ends(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_step_end(self, *_: Any, **__: Any) -> None:
            watch.end_step()

    rows = [{"prompt": row.prompt, "ground_truth": row.ground_truth} for row in parts.task.prompts]
    trainer = trl.GRPOTrainer(
        model=parts.policy.model,
        reward_funcs=trl_reward if config.data.path is None else trl_digits,
        args=trl_arguments(trl, config, parts),
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=parts.policy.tokenizer,
        callbacks=[Ends()],
    )
    trainer.remove_callback(transformers.PrinterCallback)
    trainer.train()
    held_out = HeldOut(parts.task.held_out, parts.eval_scorer, config, settings=parts.sampling)
    score = held_out.evaluate(parts.policy.sampler(parts.sampling), config.steps)["eval/reward"]
    parts.close()
    return score


def trl_reward(completions: list[str], ground_truth: list[str], **_: Any) -> list[float]:
    """The reward of sort_digits in TRL's words: right or wrong."""
    return [float(said.strip() == truth) for said, truth in zip(completions, ground_truth, strict=True)]


def trl_digits(completions: list[Any], **_: Any) -> list[float]:
    """`digits` in TRL's words."""
    texts = [said if isinstance(said, str) else said[0]["content"] for said in completions]
    return [sum(each.isdigit() for each in text) / (len(text) or 1) for text in texts]


def trl_arguments(trl: Any, config: RunConfig, parts: Run) -> Any:
    """TRL's names for what the config says."""
    return trl.GRPOConfig(
        output_dir=config.output_dir,
        max_steps=config.steps,
        per_device_train_batch_size=config.batch_size,
        num_generations=config.sampling.samples_per_prompt,
        max_completion_length=parts.sampling.max_new_tokens,
        learning_rate=config.optimizer.lr,
        lr_scheduler_type=config.optimizer.schedule,
        adam_beta1=config.optimizer.betas[0],
        adam_beta2=config.optimizer.betas[1],
        max_grad_norm=config.optimizer.max_grad_norm,
        temperature=config.sampling.temperature,
        loss_type="grpo",
        beta=0.0,
        seed=config.seed,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        logging_steps=1,
        log_level="error",
    )


def compare_steps(model: str, rounds: int, steps: int) -> None:
    """Print seconds per step and rewards of both sides, round by round, and the ratio over all pairs of steps."""
    ratios: list[float] = []
    for seed in range(1, rounds + 1):
        turns = Turns()
        ours, theirs = (Stopwatch(turns, side, time.process_time) for side in (0, 1))
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as other:
            if model == "14m":
                write_14m(Path(folder) / "14m")
            trl = other.submit(_in_turn, turns, 1, in_trl, run_config(model, f"{folder}/trl", steps, seed), theirs)
            found = _in_turn(turns, 0, in_plaudit, run_config(model, f"{folder}/plaudit", steps, seed), ours)
            rewards = {"plaudit": found, "TRL": trl.result()}
        for (name, found), watch in zip(rewards.items(), (ours, theirs), strict=True):
            print(
                f"seed {seed}  {name:8}  {watch.seconds_per_step:.4f} s/step  held-out reward {found:.3f}", flush=True
            )
        ratios += [one / two for one, two in zip(theirs.counted, ours.counted, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"{model}: plaudit's step is {middle:.2f} times as fast (quartiles {low:.2f} and {high:.2f})")


def compare_memory(model: str, steps: int = 3) -> None:
    """Print the peak memory of either side, from the first step on."""
    for name, side in (("plaudit", in_plaudit), ("TRL", in_trl)):
        with multiprocessing.get_context("spawn").Pool(1) as alone:
            print(f"{model}  {name:8} peak {alone.apply(peak_memory, (model, side, steps)):,.0f} MB", flush=True)


def peak_memory(model: str, side: Callable[[RunConfig, Stopwatch], float], steps: int) -> float:
    """The most memory that this process held after its first step, in MB; loading a model may need more."""
    torch.set_num_threads(1)

    class Watch(Stopwatch):
        def end_step(self) -> None:
            super().end_step()
            if len(self.steps) == 1:
                Path("/proc/self/clear_refs").write_text("5")  # Linux forgets the peak so far

    with tempfile.TemporaryDirectory() as folder:
        if model == "14m":
            write_14m(Path(folder) / "14m")
        side(run_config(model, f"{folder}/run", steps, 1), Watch())
    return int(re.findall(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())[0]) / 1024


def _in_turn(
    turns: Turns, side: int, run: Callable[[RunConfig, Stopwatch], float], config: RunConfig, watch: Stopwatch
) -> float:
    turns.wait(side)
    try:
        return run(config, watch)
    finally:
        turns.leave(side)


def compare_seeds(seeds: int) -> None:
    """Print the embedded default's held-out score before and after, per seed."""
    for seed in range(1, seeds + 1):
        with tempfile.TemporaryDirectory() as folder:
            began = time.process_time()
            outcome = train(load_config(None, [f"seed={seed}", f"output_dir={folder}/run", "eval.prompts=null"]))
        before, after = outcome.before["eval/score"], outcome.after["eval/score"]
        print(f"seed {seed}: {before:.3f} → {after:.3f} in {time.process_time() - began:.0f} CPU seconds", flush=True)


def compare_tasks(seeds: int) -> None:
    """Print the held-out scores of the built-in tasks before and after, trained as their files in examples/ say."""
    for name, seed in itertools.product(TASKS, range(1, seeds + 1)):
        with tempfile.TemporaryDirectory() as folder:
            told = [f"seed={seed}", f"output_dir={folder}/run", "eval.prompts=null", "eval.every=0"]
            config = load_config(EXAMPLES / f"{name}.yaml", told)
            outcome = train(config)
        before, after = outcome.before["eval/score"], outcome.after["eval/score"]
        print(f"{name:16} seed {seed}: {before:.3f} → {after:.3f} in {config.steps} steps", flush=True)


class ServerReward(RewardFunction):
    """Right or wrong, after a wait for the whole batch, as for a server's answer."""

    def compute_rewards(self, trajectories: Sequence[Trajectory]) -> list[float]:
        time.sleep(WAIT_S)
        return [float(trajectory.response == trajectory.ground_truth) for trajectory in trajectories]


def compare_async(rounds: int, steps: int) -> None:
    """Print seconds per step in turn and asynchronously, with a slow reward."""
    times: dict[str, list[float]] = {"false": [], "true": []}
    for _ in range(rounds):
        for ahead, found in times.items():
            with tempfile.TemporaryDirectory() as folder:
                watch = Stopwatch()
                told = [f"training.async_train={ahead}", "training.reward_backend=inline", f"steps={steps}",
                        "eval.prompts=8", "eval.every=0", "checkpoint.every=0", f"output_dir={folder}/run"]  # fmt: skip
                train(load_config(None, told), reward=ServerReward(), progress=watch)
            found.append(watch.seconds_per_step)
            print(f"async_train={ahead:5}  {watch.seconds_per_step:.4f} s/step", flush=True)
    ratio = statistics.median(times["false"]) / statistics.median(times["true"])
    print(f"asynchronous training is {ratio:.2f} times as fast with this reward")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("step", "memory", "seeds", "tasks", "async"), nargs="?", default="step")
    parser.add_argument("--model", choices=MODELS, default="tiny", help="of step and memory")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, or seeds")
    parser.add_argument("--steps", type=int, default=40)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", module="trl|transformers|torch")
    torch.set_num_threads(1)
    comparisons: dict[str, Callable[[], None]] = {
        "step": lambda: compare_steps(given.model, given.rounds, given.steps),
        "memory": lambda: compare_memory(given.model),
        "seeds": lambda: compare_seeds(given.rounds),
        "tasks": lambda: compare_tasks(given.rounds),
        "async": lambda: compare_async(given.rounds, given.steps),
    }
    comparisons[given.what]()


if __name__ == "__main__":
    main()
