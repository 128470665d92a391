"""Models apart from their training: opened, asked, evaluated, merged."""

import json
import threading
from dataclasses import replace

import pytest
import transformers

from plaudit.engine import Scorer
from plaudit.errors import InvalidSettings, PolicyError
from plaudit.report.coverage import wilson_interval
from plaudit.training import (
    EvalConfig,
    Prompts,
    SamplingSettings,
    evaluate_model,
    find_task,
    load_policy,
    load_run_task,
    merge_model,
    open_model,
    tiny_policy,
    train,
)
from plaudit.trajectory import Trajectory
from tests.training.runs import small
from tests.training.sampling.test_endpoint_sampler import Server

QUICK = ("steps=1", "checkpoint.every=0", "eval.every=0")


@pytest.fixture(scope="module")
def lora_run(tmp_path_factory):
    """A run that trained adapters on a model folder."""
    folder = tmp_path_factory.mktemp("lora")
    tiny_policy(3).save(folder / "base")
    config = small(folder / "run", *QUICK, f"model.path={folder / 'base'}", "model.lora_rank=2", "optimizer.lr=0.01")
    train(config)
    return folder / "run"


def test_the_model_of_a_run_folder_gets_prompts_in_the_trained_form(tmp_path):
    data = tmp_path / "sums.jsonl"
    data.write_text('{"q": "1+1", "ground_truth": "2"}\n{"q": "2+1", "ground_truth": "3"}\n')
    train(
        small(
            tmp_path / "run", *QUICK, f"data.path={data}", "data.prompt_template=say {prompt}=", "data.prompt_key=q",
            "data.eval_share=0.5", "training.reward_function=exact_match", "sampling.max_new_tokens=5",
        )
    )  # fmt: skip
    trained = open_model(str(tmp_path / "run"))
    plain = load_policy(tmp_path / "run" / "model").sampler()
    settings = SamplingSettings(5, temperature=0.0)
    assert trained.respond("1+1", settings=settings) == plain.sample(["say 1+1="], settings=settings).texts
    assert trained.max_new_tokens == 5


def test_a_merged_model_responds_as_the_adapters_did_and_loads_with_transformers_alone(lora_run, tmp_path):
    merge_model(str(lora_run), tmp_path / "whole")
    whole = transformers.AutoModelForCausalLM.from_pretrained(str(tmp_path / "whole"))
    assert not hasattr(whole, "peft_config")
    settings = SamplingSettings(8, temperature=0.0)
    prompts = ["3142=", "9871=", "5555="]
    asked = [open_model(str(model)) for model in (lora_run, tmp_path / "whole")]
    adapted, merged = [[each.respond(prompt, settings=settings) for prompt in prompts] for each in asked]
    assert adapted == merged


def test_merging_refuses_what_it_cannot_do(lora_run, tmp_path):
    with pytest.raises(PolicyError, match="no adapters to build in"):
        merge_model(str(lora_run.parent / "base"), tmp_path / "whole")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    with pytest.raises(PolicyError, match="not an empty folder"):
        merge_model(str(lora_run), tmp_path / "full")


def test_a_run_that_never_ended_explains_how_to_continue(tmp_path):
    (tmp_path / "config.yaml").write_text("steps: 3\n")
    with pytest.raises(PolicyError, match=r"has no model yet.*--resume"):
        open_model(str(tmp_path))


def test_figures_are_those_of_the_samples_task_by_task():
    rows = [
        Trajectory(prompt=p, response="", ground_truth="x", task=t) for p, t in (("1=", "a"), ("2=", "a"), ("3=", "b"))
    ]
    kept = []
    settings = EvalConfig(samples_per_prompt=4, pass_at=(1, 2))
    with Scorer(lambda response: float(len(response) % 2), backend="inline") as scorer:
        found = evaluate_model(
            replace(open_model("tiny"), max_new_tokens=3), Prompts(tuple(rows)), scorer, settings, kept.append
        )
    assert [(task.task, task.prompts, task.samples) for task in found] == [("a", 2, 8), ("b", 1, 4)]
    assert len(kept) == 3 * (4 + 1)
    drawn = [rollout for rollout in kept[:12] if rollout.trajectory.task == "a"]
    mean = sum(rollout.output.reward for rollout in drawn) / 8
    assert found[0].figures["reward"].value == pytest.approx(mean)
    assert found[0].figures["reward"].low <= mean <= found[0].figures["reward"].high
    assert found[1].figures["reward"].low is None, "one prompt says nothing of others"
    json.dumps([task.to_dict() for task in found], allow_nan=False)


def test_the_same_seed_gives_the_same_figures():
    task = find_task("sort_digits")
    with Scorer(task.reward, backend="inline") as scorer:
        first, again = (
            evaluate_model(
                open_model("tiny"), task.held_out[:4], scorer, EvalConfig(samples_per_prompt=4, pass_at=(2,))
            )
            for _ in range(2)
        )
    assert first == again


def test_a_server_is_evaluated_like_a_model_in_this_process():
    server = Server(tiny_policy(0))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        task = find_task("sort_digits")
        with Scorer(task.reward, backend="inline") as scorer:
            [found] = evaluate_model(
                open_model(server.url, model="tiny"),
                task.held_out[:3],
                scorer,
                EvalConfig(samples_per_prompt=2, pass_at=(1, 2)),
            )
    finally:
        server.shutdown()
        server.server_close()
    assert (found.prompts, found.samples, found.unscored) == (3, 6, 0)
    assert {asked["model"] for _, asked, _ in server.asked} == {"tiny"}
    with pytest.raises(InvalidSettings, match="--model NAME"):
        open_model(server.url)


def test_more_passes_than_samples_are_refused():
    with pytest.raises(InvalidSettings, match="pass@3 needs at least 3 samples"):
        EvalConfig(samples_per_prompt=2, pass_at=(1, 3))


def test_only_a_run_has_a_task_of_its_own(lora_run):
    assert load_run_task("tiny") is None
    assert load_run_task(str(lora_run)).name == "sort_digits"


@pytest.mark.parametrize(("right", "count"), [(0, 10), (3, 10), (10, 10), (50, 100)])
def test_an_interval_solves_wilsons_equation(right, count):
    share = right / count
    for bound in wilson_interval(share, count):
        if bound not in (0.0, 1.0):
            assert (share - bound) ** 2 == pytest.approx(1.96**2 * bound * (1 - bound) / count)
