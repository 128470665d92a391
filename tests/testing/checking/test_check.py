"""Each planted bug is found by the rule meant for it and by no other; honest rewards pass without a finding."""

import json
import random
import re
import time
from pathlib import Path

import pytest

from plaudit import CompositeReward, FunctionReward, RewardFunction, RewardOutput, Status, Trajectory, reward
from plaudit.testing import Rule, Severity, check_reward
from plaudit.testing.checking.probes import mutated_samples


def words(response):
    return min(1.0, len(response.split()) / 20)


def last_number(response):
    return (re.findall(r"\d+", response) or [None])[-1]


def right(response, ground_truth):
    if ground_truth is None:
        return RewardOutput.unscored(Status.SKIPPED, "no ground truth")
    correct = float(str(ground_truth) == last_number(response))
    return RewardOutput(correct, score=correct)


async def patient(response):
    return float("answer" in response)


class Relative(RewardFunction):
    """The share of the group's longest response."""

    scope = "group"
    bounds = (0.0, 1.0)

    def compute_rewards(self, trajectories):
        longest = max(len(trajectory.response) for trajectory in trajectories) or 1
        return [len(trajectory.response) / longest for trajectory in trajectories]


class Twinkling(RewardFunction):
    def __call__(self, trajectories, ground_truths):
        return [
            float(truth is not None and str(truth) == last_number(trajectory.response))
            for trajectory, truth in zip(trajectories, ground_truths, strict=True)
        ]


class Patient(RewardFunction):
    async def compute_rewards(self, trajectories):
        return [words(trajectory.response) for trajectory in trajectories]


class Cached(RewardFunction):
    """Memory that changes no value is no fault."""

    def __init__(self):
        self.cache = {}

    def compute_reward(self, trajectory):
        return self.cache.setdefault(trajectory.response, words(trajectory.response))


class PerWord(RewardFunction):
    def compute_reward(self, trajectory):
        values = [0.0 for _ in trajectory.response.split()]
        return RewardOutput(0.0, token_rewards=values)


class PerToken(RewardFunction):
    def compute_reward(self, trajectory):
        return RewardOutput(0.5, token_rewards=[0.1] * len(trajectory.tokens), token_unit="token")


@reward(deterministic=False)
def noisy_on_purpose(response):
    return random.random()


@reward(bounds=(-1.0, 0.0))
def penalty(response):
    return -min(1.0, len(response) / 1000)


def unparsed_without_a_number(response):
    numbers = re.findall(r"\d+", response)
    return 1.0 if numbers else RewardOutput.unscored(Status.UNPARSED, "no number")


def by_metadata(response, metadata):
    return float(metadata["answer"] == last_number(response))


HONEST = {
    "plain function": words,
    "correctness with score": right,
    "async function": patient,
    "async batch reward": Patient(),
    "group reward": Relative(),
    "paired batch reward": Twinkling(),
    "cache": Cached(),
    "word rewards": PerWord(),
    "token rewards": PerToken(),
    "declared random": noisy_on_purpose,
    "declared negative range": penalty,
    "unparsed is no failure": unparsed_without_a_number,
    "metadata": by_metadata,
    "weighted sum": CompositeReward([(words, 0.3), (right, 0.7)]),
    "gate": FunctionReward(words).gate(on=FunctionReward(right), at=0.5),
    "normalised in the group": FunctionReward(words).normalized("group").clip(0, 1),
    "normalised over the batch": FunctionReward(words).normalized("rank").clip(0, 1),
    "running normaliser": FunctionReward(words).normalized("running").clip(0, 1),
}


@pytest.mark.parametrize("honest", HONEST.values(), ids=HONEST)
def test_an_honest_reward_has_no_findings(honest):
    assert check_reward(honest) == []


@pytest.mark.parametrize("seed", range(1, 6))
def test_no_seed_makes_an_honest_reward_look_broken(seed):
    assert check_reward(HONEST["weighted sum"], seed=seed) == []


def raises_on_empty(response):
    return 1.0 / len(response) if len(response.split()) < 1 else 0.5


def gives_nan(response):
    return float("nan")


def gives_text(response):
    return "good"


def invalid_output(response):
    return RewardOutput(0.5, score=2.0)


def own_error(responses):
    return [0.5 if text else RewardOutput.unscored(Status.ERROR, "no text") for text in responses]


def recursive_parser(response):
    try:
        return float(bool(json.loads(response)))
    except ValueError:
        return 0.0


def too_few(responses):
    return [1.0 for _ in responses][1:]


def drops_repeated(responses):
    return [float(len(response) % 7) / 7 for response in dict.fromkeys(responses)]


def one_for_all(responses):
    return 0.5


def generates(responses):
    return (words(response) for response in responses)


async def too_few_later(responses):
    return [0.0]


async def raises_later(responses):
    return [1.0 if response.split()[0] else 0.0 for response in responses]


def skips_everything(response):
    return RewardOutput.unscored(Status.SKIPPED, "not my kind of text")


def chance(response):
    return random.random()


def clock(response):
    return time.perf_counter_ns() % 1000 / 1000


def by_place(responses):
    return [place / len(responses) for place, _ in enumerate(responses)]


def against_the_batch(responses):
    longest = max(len(response) for response in responses) or 1
    return [len(response) / longest for response in responses]


def writes_metadata(trajectory):
    trajectory.metadata["seen"] = True
    return 0.5


def sorts_in_place(self, trajectories):
    trajectories.sort(key=lambda trajectory: trajectory.response)
    return [words(trajectory.response) for trajectory in trajectories]


class SortsInPlace(RewardFunction):
    compute_rewards = sorts_in_place


SEEN: set[str] = set()


def novelty(response):
    new = response not in SEEN
    SEEN.add(response)
    return float(new)


class Counter(RewardFunction):
    calls = 0

    def compute_reward(self, trajectory):
        self.calls += 1
        return self.calls / 10_000


class LongestSoFar(RewardFunction):
    def __init__(self):
        self.longest = 1

    def compute_reward(self, trajectory):
        self.longest = max(self.longest, len(trajectory.response))
        return len(trajectory.response) / self.longest


class OwnDice(RewardFunction):
    def __init__(self):
        self.dice = random.Random(0)

    def compute_reward(self, trajectory):
        return self.dice.random()


@reward(bounds=(0.0, 1.0))
def beyond_bounds(response):
    return float(len(response))


def forgets_to_return(response):
    len(response) / 100


def swallows(response):
    try:
        return response.no_such_method()
    except AttributeError:
        return None


def always_raises(response):
    raise LookupError("no model")


def asks_for_a_column(response, expected_format):
    return float(expected_format in response)


def needs_the_truth(response, ground_truth):
    return float(ground_truth.strip() == last_number(response))


@reward(scope="batch")
def needs_all_truths(responses, ground_truths):
    return [float(truth.strip() == last_number(text)) for text, truth in zip(responses, ground_truths, strict=True)]


def garbage_is_right(response, ground_truth):
    empty = not response.strip()
    return RewardOutput(float(empty), score=float(empty))


BROKEN = {
    "raises on empty": (raises_on_empty, Rule.TOTAL),
    "recursion": (recursive_parser, Rule.TOTAL),
    "raises inside a sum": (CompositeReward([(raises_on_empty, 0.5), (words, 0.5)]), Rule.TOTAL),
    "nan": (gives_nan, Rule.FINITE),
    "nan inside a sum": (0.5 * FunctionReward(gives_nan) + 0.5 * FunctionReward(words), Rule.FINITE),
    "nan in a batch": (lambda responses: [float("nan") for _ in responses], Rule.FINITE),
    "its own error in a batch": (own_error, Rule.TOTAL),
    "text": (gives_text, Rule.FINITE),
    "invalid output": (invalid_output, Rule.FINITE),
    "too few values": (too_few, Rule.ARITY),
    "repeated samples dropped": (drops_repeated, Rule.ARITY),
    "one value for all": (one_for_all, Rule.ARITY),
    "generator": (generates, Rule.ARITY),
    "too few values, async": (too_few_later, Rule.ARITY),
    "raises, async": (raises_later, Rule.TOTAL),
    "skips everything": (skips_everything, Rule.SCORED),
    "random": (chance, Rule.DETERMINISTIC),
    "clock": (clock, Rule.DETERMINISTIC),
    "place in the batch": (by_place, Rule.ORDER),
    "compares with the batch": (against_the_batch, Rule.INDEPENDENT),
    "writes metadata": (writes_metadata, Rule.PURE),
    "sorts in place": (SortsInPlace(), Rule.PURE),
    "module memory": (novelty, Rule.STATELESS),
    "counter": (Counter(), Rule.STATELESS),
    "counter inside a sum": (0.5 * Counter() + 0.5 * FunctionReward(words), Rule.STATELESS),
    "running maximum": (LongestSoFar(), Rule.STATELESS),
    "own random generator": (OwnDice(), Rule.STATELESS),
    "beyond its bounds": (beyond_bounds, Rule.BOUNDS),
    "forgets to return": (forgets_to_return, Rule.SCORED),
    "swallows its errors": (swallows, Rule.SCORED),
    "always raises": (always_raises, Rule.SCORED),
    "asks for a missing column": (asks_for_a_column, Rule.SCORED),
    "needs the truth": (needs_the_truth, Rule.GROUND_TRUTH),
    "batch reward that needs the truth": (needs_all_truths, Rule.GROUND_TRUTH),
    "garbage is right": (garbage_is_right, Rule.GARBAGE),
}


@pytest.mark.parametrize(("broken", "rule"), BROKEN.values(), ids=BROKEN)
def test_a_planted_bug_is_found_by_the_rule_meant_for_it_and_no_other(broken, rule):
    assert [finding.rule for finding in check_reward(broken)] == [rule]


def test_two_independent_bugs_give_two_findings():
    def both(trajectory):
        trajectory.metadata.clear()
        return 1 / len(trajectory.response)

    assert [finding.rule for finding in check_reward(both)] == [Rule.TOTAL, Rule.PURE]


def test_values_outside_zero_to_one_without_bounds_are_only_an_info():
    findings = check_reward(lambda response: float(len(response)))
    assert [(finding.rule, finding.severity) for finding in findings] == [(Rule.RANGE, Severity.INFO)]


def test_a_finding_says_what_where_and_what_to_do():
    [finding] = check_reward(raises_on_empty)
    assert finding.severity is Severity.ERROR
    assert "ZeroDivisionError" in finding.message
    assert finding.sample == "''"
    assert "Status.UNPARSED" in finding.remedy


def standardised(responses):
    """Not a number for a single sample, as a standard deviation with n - 1 is."""
    lengths = [len(response) for response in responses]
    mean = sum(lengths) / len(lengths)
    variance = sum((length - mean) ** 2 for length in lengths) / (len(lengths) - 1) if lengths[1:] else float("nan")
    return [1 / (1 + 2.718 ** (-(length - mean) / (variance**0.5 + 1e-9))) for length in lengths]


def test_a_function_for_batches_that_depends_on_the_batch_is_an_info():
    [finding] = check_reward(0.5 * FunctionReward(standardised) + 0.5 * FunctionReward(words))
    assert (finding.rule, finding.severity) == (Rule.INDEPENDENT, Severity.INFO)
    assert "standardised: a sample gave" in finding.message
    assert "reward is nan" in finding.message


def test_a_function_for_batches_that_says_that_it_compares_has_no_finding():
    assert check_reward(reward(scope="batch")(standardised)) == []


def test_a_function_whose_batches_are_cut_must_not_depend_on_them():
    [finding] = check_reward(reward(max_batch=64)(against_the_batch))
    assert (finding.rule, finding.severity) == (Rule.INDEPENDENT, Severity.ERROR)
    assert "max_batch" in finding.message


def tool_calls(response):
    calls = re.findall(r"<tool_call>(.*?)</tool_call>", response, re.DOTALL)
    return float(bool(calls) and all(json.loads(call)["name"] == "search" for call in calls))


def test_the_users_own_responses_are_changed_and_tried():
    texts = [f'<tool_call>{{"name": "{name}", "arguments": {{}}}}</tool_call>' for name in ("search", "find")]
    findings = check_reward(tool_calls, [Trajectory(prompt="", response=text) for text in texts])
    [finding] = [finding for finding in findings if "KeyError" in finding.message]
    assert finding.rule is Rule.TOTAL
    assert finding.response == "<tool_call>{}</tool_call>"


def test_changed_responses_are_few_however_many_samples_are_given():
    samples = [Trajectory("?", f"<answer>{n}</answer>") for n in range(1000)]
    assert 8 <= len(mutated_samples(samples)) <= 8 * 22


def test_a_status_that_the_reward_itself_returns_is_no_overrun():
    assert check_reward(lambda response: RewardOutput.unscored(Status.TIMEOUT, "slow") if not response else 0.5) == []


def test_the_memory_of_a_stateful_reward_is_named():
    [finding] = check_reward(0.5 * FunctionReward(novelty) + 0.5 * Counter(), seed=1)
    assert "Counter: calls" in finding.message
    assert "novelty: SEEN" in finding.message


def test_forgetting_to_return_is_called_that():
    [finding] = check_reward(forgets_to_return)
    assert finding.severity is Severity.WARNING
    assert "forgotten to return" in finding.remedy


def test_one_cause_is_one_finding_however_many_texts_it_concerns():
    def numbers_only(response):
        return float(int(response) > 0)

    findings = check_reward(numbers_only, [Trajectory(prompt="", response=str(number)) for number in range(4)])
    assert [finding.rule for finding in findings] == [Rule.TOTAL]


def test_the_users_own_samples_and_columns_are_what_is_scored():
    samples = [Trajectory(prompt="", response=f"It is {n}.", columns={"expected_format": "It is"}) for n in range(4)]
    assert check_reward(asks_for_a_column, samples) == []


def test_equal_rewards_on_many_given_samples_are_a_warning():
    samples = [Trajectory(prompt="", response="word " * n, ground_truth="x") for n in range(8)]
    assert [finding.rule for finding in check_reward(lambda response: 0.25, samples)] == [Rule.VARIED]
    assert check_reward(lambda response: 0.25, samples[:7]) == []


def test_a_group_reward_that_looks_at_other_groups_is_found():
    class Across(RewardFunction):
        scope = "group"

        def __init__(self):
            self.earlier = 0

        def compute_rewards(self, trajectories):
            self.earlier, before = len(trajectories[0].prompt_text), self.earlier
            return [float(before > 0)] * len(trajectories)

    samples = [Trajectory(prompt=prompt, response="yes") for prompt in ("a", "bb", "")]
    assert [finding.rule for finding in check_reward(Across(), samples)] == [Rule.STATELESS]


def test_the_samples_given_are_left_as_they_were():
    sample = Trajectory(prompt="", response="yes", metadata={"k": [1]})
    check_reward(writes_metadata, [sample])
    assert sample == Trajectory(prompt="", response="yes", metadata={"k": [1]})


def test_the_same_seed_finds_the_same_again():
    assert check_reward(raises_on_empty, seed=3) == check_reward(raises_on_empty, seed=3)


def test_a_reward_given_by_its_spec_is_checked(tmp_path: Path):
    file = tmp_path / "good_reward.py"
    file.write_text("def good(response):\n    return min(1.0, len(response) / 100)\n")
    assert check_reward(f"{file}:good") == []


def test_values_that_follow_the_hash_seed_are_found_in_a_fresh_process(tmp_path: Path):
    file = tmp_path / "hashing_reward.py"
    file.write_text("def hashing(response):\n    return hash(response) % 1000 / 1000\n")
    [finding] = check_reward(f"{file}:hashing")
    assert finding.rule is Rule.DETERMINISTIC
    assert "fresh process" in finding.message


def test_a_reward_that_prints_is_still_compared_in_a_fresh_process(tmp_path: Path):
    file = tmp_path / "chatty_reward.py"
    file.write_text("def chatty(response):\n    print('scoring')\n    return hash(response) % 1000 / 1000\n")
    assert [finding.rule for finding in check_reward(f"{file}:chatty")] == [Rule.DETERMINISTIC]


TOOL_CALL = '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>'


@pytest.mark.parametrize(
    ("read", "fault"),
    [
        (lambda call: call["arguments"]["city"], "KeyError"),
        (lambda call: call.get("arguments", {}).get("city"), "AttributeError"),
        (lambda call: call.get("name", "").lower(), "AttributeError"),
    ],
    ids=["a key that may be missing", "a list instead of an object", "null instead of text"],
)
def test_a_reward_that_reads_json_is_tried_with_members_missing_null_and_of_other_types(read, fault):
    @reward
    def tool_call(response):
        found = re.search(r"<tool_call>(.*?)</tool_call>", response, re.DOTALL)
        try:
            call = json.loads(found[1]) if found else None
        except (ValueError, RecursionError):
            return 0.0
        return float(isinstance(call, dict) and call != {} and bool(read(call)))

    findings = check_reward(tool_call, [Trajectory("Weather?", TOOL_CALL), Trajectory("Weather?", "I do not know")])
    assert any(fault in finding.message for finding in findings)
