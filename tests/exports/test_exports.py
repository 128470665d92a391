"""One reward of ours as every system calls it: the same numbers, a policy for what was not scored, groups, shims."""

import asyncio
import importlib.util
import inspect
import math
import multiprocessing
import pickle
import re
import warnings
from concurrent.futures import ProcessPoolExecutor
from types import SimpleNamespace

import cloudpickle
import pytest
import torch

import plaudit
from plaudit import RewardOutput, Status, reward
from plaudit.errors import InvalidSettings, ScoringFailed
from plaudit.exports import write_shim
from plaudit.exports.exporting import EXPORTS
from plaudit.rewards import FormatReward, MathReward

pytestmark = pytest.mark.filterwarnings("ignore:.* was not scored:UserWarning")

PROMPT, TRUTH = "2+2?", "4"
RESPONSES = ["The answer is 4.", "The answer is 5.", "no idea", "4"]


@reward
def says(response):
    return None if "no" in response else float(response.count("4"))


@reward(scope="group")
def longest(responses):
    return [float(len(each) == max(map(len, responses))) for each in responses]


ENTRIES = {
    "openrlhf": "reward_func", "tunix": "_reward", "verl": "compute_score", "verl:async": "compute_score",
    "verl:batch": "compute_score",
}  # fmt: skip


def exported(subject, trainer, **options):
    return plaudit.export(subject, trainer, **{"backend": "inline", **options})


def trl(function):
    return function(prompts=[PROMPT] * 4, completions=RESPONSES, answer=[TRUTH] * 4)


def swift(function):
    chats = [[{"role": "user", "content": PROMPT}, {"role": "assistant", "content": each}] for each in RESPONSES]
    return function(RESPONSES, messages=chats, solution=[TRUTH] * 4)


def verl(function):
    return [
        function(data_source="sums", solution_str=each, ground_truth=TRUTH, extra_info={"index": 1})["score"]
        for each in RESPONSES
    ]


def verl_async(function):
    async def run():
        calls = [
            function(data_source="sums", solution_str=each, ground_truth=TRUTH, extra_info={"index": 1})
            for each in RESPONSES
        ]
        return [result["score"] for result in await asyncio.gather(*calls)]

    return asyncio.run(run())


def verl_batch(function):
    results = function(["sums"] * 4, RESPONSES, [TRUTH] * 4, [{"index": 1}] * 4)
    return [result["score"] for result in results]


def openrlhf(function):
    result = function([PROMPT + each for each in RESPONSES], [PROMPT] * 4, [TRUTH] * 4)
    assert all(value.shape == (4,) for value in result["extra_logs"].values())
    return result["rewards"].tolist()


def twinkle(function):
    messages = [[{"role": "user", "content": PROMPT}, {"role": "assistant", "content": each}] for each in RESPONSES]
    return function([{"messages": each, "user_data": [("solution", TRUTH)]} for each in messages])


def slime(function):
    samples = [
        SimpleNamespace(prompt=PROMPT, response=each, label=TRUTH, tokens=[], response_length=0, metadata={})
        for each in RESPONSES
    ]
    return asyncio.run(function(SimpleNamespace(reward_key=None), samples))


def areal(function):
    return [function(PROMPT, each, [1], [2], answer=TRUTH) for each in RESPONSES]


def flux(function):
    made = [SimpleNamespace(prompt=PROMPT, response=each, metadata={"ground_truth": TRUTH}) for each in RESPONSES]
    return [function.compute_reward(each).reward for each in made]


def verifiers(function):
    recorded = {}
    traces = [SimpleNamespace(last_reply=each, record_metrics=recorded.update) for each in RESPONSES]
    task = SimpleNamespace(prompt=PROMPT, answer=TRUTH)
    return [asyncio.run(function(task=task, trace=trace)) for trace in traces]


def verifiers_legacy(function):
    return [asyncio.run(function(prompt=PROMPT, completion=each, answer=TRUTH, state={})) for each in RESPONSES]


CALLS = {
    "trl": trl, "swift": swift, "verl": verl, "verl:async": verl_async, "verl:batch": verl_batch,
    "openrlhf": openrlhf, "twinkle": twinkle, "tunix": trl, "agent_tunix": trl, "slime": slime, "areal": areal,
    "flux": flux, "verifiers": verifiers, "verifiers:legacy": verifiers_legacy,
}  # fmt: skip
NEED_THEIR_PACKAGE = {"inspect", "skyrl"}
WITH_BODIES = {"nemo_gym"}


def test_every_export_is_called_here_or_needs_its_package():
    assert set(CALLS) | NEED_THEIR_PACKAGE | WITH_BODIES >= set(EXPORTS)


@pytest.mark.parametrize("trainer", CALLS)
def test_the_numbers_are_those_of_the_reward(trainer):
    subject = 0.5 * MathReward() + 0.5 * FormatReward()
    samples = [plaudit.Trajectory(PROMPT, each, ground_truth=TRUTH) for each in RESPONSES]
    expected = [output.reward for output in plaudit.score(subject, samples)]
    assert CALLS[trainer](exported(subject, trainer)) == expected


@pytest.mark.parametrize("trainer", [name for name in CALLS if name != "verifiers"])
def test_by_default_a_sample_without_a_number_spoils_nothing(trainer):
    values = CALLS[trainer](exported(says, trainer))
    assert values[:2] + values[3:] == [1.0, 0.0, 1.0]
    if trainer in ("trl", "swift"):
        assert values[2] is None
    else:
        assert math.isfinite(values[2])


def test_verifiers_records_the_error_of_a_trace():
    with pytest.raises(ScoringFailed, match="1 of 1 samples were not scored: the reward returned None"):
        verifiers(exported(says, "verifiers"))


@pytest.mark.parametrize("trainer", ["verl", "openrlhf", "twinkle"])
@pytest.mark.parametrize("policy", ["none", "nan"])
def test_a_policy_that_would_spoil_the_batch_is_refused(trainer, policy):
    with pytest.raises(InvalidSettings, match="is one of mean, raise, got"):
        exported(says, trainer, on_unscored=policy)


def test_the_keys_of_a_verl_result_are_the_same_for_every_sample():
    function = exported(0.5 * says.named("a") + 0.5 * MathReward(), "verl")
    results = [function(solution_str=each, ground_truth=TRUTH) for each in RESPONSES]
    assert len({tuple(result) for result in results}) == 1
    assert {"score", "unscored", "unscored/skipped", "a", "MathReward"} <= set(results[0])
    assert (results[2]["unscored"], math.isnan(results[2]["a"])) == (1.0, True)


def test_slime_can_mask_what_was_not_scored_and_log_components():
    sample = SimpleNamespace(prompt=PROMPT, response="no", label=TRUTH, tokens=[], response_length=0, metadata={})
    function = exported(says, "slime")
    with pytest.warns(UserWarning, match="gives 0.0 for samples that are not scored"):
        result = asyncio.run(function(SimpleNamespace(reward_key="score"), sample))
    assert sample.remove_sample
    assert (result["score"], result["unscored/skipped"]) == (0.0, 1.0)


def test_a_trainer_can_tell_a_coroutine_from_a_function():
    assert inspect.iscoroutinefunction(exported("math", "verl:async"))
    assert list(inspect.signature(exported("math", "verifiers")).parameters) == ["task", "trace"]
    assert not inspect.iscoroutinefunction(exported("math", "verl"))


@pytest.mark.parametrize("trainer", ["trl", "verl:async", "swift", "openrlhf"])
def test_it_travels_by_pickle_and_by_ray_and_arrives_once(trainer):
    function = exported("math", trainer)
    for travel in (pickle, cloudpickle):
        data = travel.dumps(function)
        assert travel.loads(data) is function
    data = pickle.dumps(function)
    del function
    arrived = pickle.loads(data)
    assert arrived is pickle.loads(data)
    assert arrived.__name__ == "MathReward"


@pytest.mark.parametrize("trainer", ["trl", "verl:async", "verl:batch", "slime", "twinkle"])
def test_a_reward_of_groups_sees_the_whole_group(trainer):
    function = exported(longest, trainer, group_size=4)
    expected = [1.0, 1.0, 0.0, 0.0]
    assert CALLS[trainer](function) == expected


@pytest.mark.parametrize(
    ("trainer", "message"),
    [
        ("verl", "single samples, in several processes; export it as verl:async or verl:batch"),
        ("areal", "AReaL gives this form single samples"),
        ("trl", "say group_size="),
    ],
)
def test_where_groups_cannot_be_had_the_error_says_so(trainer, message):
    with pytest.raises(InvalidSettings, match=re.escape(message)):
        exported(longest, trainer)


def test_a_group_that_does_not_become_whole_is_given_up_with_the_reason():
    function = exported(longest, "verl:async", group_size=2, group_wait_s=0.05, on_unscored="raise")

    async def run():
        return await function(solution_str="4", ground_truth=TRUTH, extra_info={"index": 7})

    with pytest.raises(ScoringFailed, match=r"needs whole groups of 2, and 1 samples of this one reached this process"):
        asyncio.run(run())


def test_openrlhf_is_given_numbers_of_the_metadata_under_the_same_names_in_every_call():
    @reward
    def logged(response):
        if "no" in response:
            return None
        return RewardOutput(1.0, metadata={"words": len(response.split()), "note": "text"})

    function = exported(logged, "openrlhf")
    calls = [function([PROMPT + each], [PROMPT], [TRUTH])["extra_logs"] for each in ("a b", "no", "c")]
    assert [logs["words"].tolist()[0] for logs in (calls[0], calls[2])] == [2.0, 1.0]
    assert math.isnan(calls[1]["words"])
    assert {tuple(logs) for logs in calls} == {tuple(calls[0])}
    assert "note" not in calls[0]


def test_openrlhf_is_given_tensors_and_scores():
    result = exported("math", "openrlhf")([PROMPT + "4"], [PROMPT], [TRUTH])
    assert torch.equal(result["rewards"], torch.tensor([1.0]))
    assert torch.equal(result["scores"], torch.tensor([1.0]))


REWARDS = "def quality(response, ground_truth):\n    return float(ground_truth in response)\n"
USES = {
    "trl": "reward_funcs=[reward]",
    "verl": "reward.custom_reward_function.path=",
    "openrlhf": "--reward.remote_url",
    "slime": "--custom-rm-path shim.reward",
}


def load_file(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("trainer", ["trl", "verl", "openrlhf", "slime", "tunix", "areal", "verifiers:legacy"])
def test_a_shim_gives_the_reward_wherever_it_is_moved_to(trainer, tmp_path, monkeypatch):
    (tmp_path / "rewards.py").write_text(REWARDS)
    monkeypatch.chdir(tmp_path)
    shim = write_shim("rewards.py:quality", trainer, tmp_path / "shim.py", backend="inline")
    assert USES.get(trainer, "") in shim.usage
    moved = tmp_path.rename(tmp_path.with_name(f"{tmp_path.name}_moved"))
    monkeypatch.chdir("/")
    module = load_file(moved / "shim.py")
    function = getattr(module, ENTRIES.get(trainer, "reward"))
    assert CALLS[trainer](module.quality if trainer == "tunix" else function) == [1.0, 0.0, 0.0, 1.0]
    if trainer == "tunix":
        assert [name for name, each in vars(module).items() if callable(each) and name[0] not in "_P"] == ["quality"]


def test_a_shim_of_an_expression_keeps_its_files(tmp_path, monkeypatch):
    (tmp_path / "rewards.py").write_text(REWARDS)
    monkeypatch.chdir(tmp_path)
    write_shim("(0.5 * 'rewards.py:quality' + 0.5 * math).named('both')", "trl", tmp_path / "shim.py")
    text = (tmp_path / "shim.py").read_text()
    assert "{_HERE}/rewards.py:quality" in text
    assert "on_unscored='none'" in text
    assert load_file(tmp_path / "shim.py").reward.__name__ == "both"


def test_a_shim_finds_a_file_whose_path_has_spaces(tmp_path, monkeypatch):
    (tmp_path / "my rewards").mkdir()
    (tmp_path / "my rewards" / "rewards.py").write_text(REWARDS)
    monkeypatch.chdir(tmp_path)
    write_shim("my rewards/rewards.py:quality", "trl", tmp_path / "shim.py", backend="inline")
    monkeypatch.chdir("/")
    assert trl(load_file(tmp_path / "shim.py").reward) == [1.0, 0.0, 0.0, 1.0]


def test_a_shim_of_an_expression_keeps_files_with_spaces_and_backslashes(tmp_path, monkeypatch):
    folder = tmp_path / "my rewards"
    folder.mkdir()
    (folder / "rewards.py").write_text(REWARDS)
    monkeypatch.chdir(tmp_path)
    spec = r"('my rewards/rewards.py:quality' + 0 * keyword(['\\x{0,3}'])).named('both')"
    shim = write_shim(spec, "openrlhf", folder / "shim.py", backend="inline")
    assert f"--reward.remote_url '{folder}/shim.py'" in shim.usage
    monkeypatch.chdir("/")
    assert openrlhf(load_file(folder / "shim.py").reward_func)[:2] == [1.0, 0.0]


def test_the_verify_of_a_nemo_gym_server_takes_and_gives_bodies_with_further_columns(tmp_path):
    (tmp_path / "rewards.py").write_text(REWARDS)
    exported = plaudit.export(f"{tmp_path}/rewards.py:quality", "nemo_gym", backend="inline")
    said = {"type": "message", "content": [{"type": "output_text", "text": RESPONSES[0]}]}
    body = {"responses_create_params": {"input": PROMPT}, "response": {"output": [said]}, "answer": TRUTH}
    answered = asyncio.run(exported(body))
    assert (answered["reward"], answered["answer"], answered["reward_components"]["unscored"]) == (1.0, TRUTH, 0.0)


def test_status_counts_reach_the_log():
    logged = {}

    @reward
    def times_out(response):
        return (
            RewardOutput.unscored(Status.TIMEOUT, "slow") if "no" in response else RewardOutput(1.0, metadata={"n": 3})
        )

    exported(times_out, "trl")(prompts=[PROMPT] * 4, completions=RESPONSES, log_metric=logged.__setitem__)
    assert logged == {"times_out/unscored": 0.25, "times_out/unscored/timeout": 0.25, "times_out/n": 3.0}


def test_an_exported_reward_scores_in_a_spawned_child(tmp_path):
    (tmp_path / "mine.py").write_text("def right(response, answer):\n    return float(response == answer)\n")
    exported = plaudit.export(f"{tmp_path}/mine.py:right", "trl", workers=1)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(exported, ["2+2?"] * 2, ["four", "4"], answer=["4", "4"]).result(120) == [0.0, 1.0]


def test_the_extra_logs_of_a_reward_file_reach_openrlhf(tmp_path):
    (tmp_path / "reward_func.py").write_text(
        "import torch\n"
        "def reward_func(queries, prompts, labels):\n"
        "    rewards = torch.tensor([float(len(query)) for query in queries])\n"
        "    return {'rewards': rewards, 'scores': rewards / 10, 'extra_logs': {'custom_metric': rewards * 2}}\n"
    )
    logs = exported(f"{tmp_path}/reward_func.py", "openrlhf")(["pa", "pbb"], ["p", "p"], ["1", "2"])["extra_logs"]
    assert logs["custom_metric"].tolist() == [4.0, 6.0]


@pytest.mark.parametrize("trainer", ["openrlhf", "verl"])
def test_export_that_never_scores_warns_once_for_each_distinct_message(trainer, caplog):
    def fails(response, ground_truth):
        raise ValueError("no truth")

    function = plaudit.export(fails, trainer, backend="inline")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            if trainer == "openrlhf":
                function(queries=["ab", "ac"], prompts=["a", "a"], labels=["1", "2"])
            else:
                function(data_source="d", solution_str="c", ground_truth="1", extra_info=None)
    messages = [str(each.message) for each in caught]
    assert sorted("gives 0.0" in each for each in messages) == [False, True]
    assert [record.getMessage() for record in caplog.records] == messages
