"""Every way to write a reward gives the same result everywhere a reward can be called."""

import asyncio
import pickle
from dataclasses import dataclass

import pytest

from plaudit import CompositeReward, FunctionReward, RewardFunction, RewardOutput, Status, Trajectory, reward, score
from plaudit.errors import InvalidSettings, ScoringFailed


class ByOne(RewardFunction):
    def compute_reward(self, trajectory):
        return RewardOutput(float(trajectory.response == trajectory.ground_truth))


class ByOneFloat(RewardFunction):
    def compute_reward(self, trajectory):
        return trajectory.response == trajectory.ground_truth


class ByOneAsync(RewardFunction):
    async def compute_reward(self, trajectory):
        await asyncio.sleep(0)
        return float(trajectory.response == trajectory.ground_truth)


class ByMany(RewardFunction):
    def compute_rewards(self, trajectories):
        return [RewardOutput(float(t.response == t.ground_truth)) for t in trajectories]


class ByManyAsync(RewardFunction):
    async def compute_rewards(self, trajectories):
        await asyncio.sleep(0)
        return [float(t.response == t.ground_truth) for t in trajectories]


class ByCall(RewardFunction):
    def __call__(self, trajectories, ground_truths):
        return [float(t.response == truth) for t, truth in zip(trajectories, ground_truths, strict=True)]


class ByCallAsync(RewardFunction):
    async def __call__(self, trajectories, ground_truths):
        return [float(t.response == truth) for t, truth in zip(trajectories, ground_truths, strict=True)]


class WithoutSuper(RewardFunction):
    def __init__(self):
        self.right = 1.0

    def compute_reward(self, trajectory):
        return self.right if trajectory.response == trajectory.ground_truth else 0.0


@dataclass(frozen=True, slots=True)
class AsDataclass(RewardFunction):
    right: float = 1.0

    def compute_reward(self, trajectory):
        return self.right if trajectory.response == trajectory.ground_truth else 0.0


@reward
def by_function(response, ground_truth):
    return float(response == ground_truth)


@reward
async def by_function_async(response, ground_truth):
    return float(response == ground_truth)


@reward
def by_lists(responses, ground_truths):
    return [float(r == truth) for r, truth in zip(responses, ground_truths, strict=True)]


@reward
def by_trajectories(trajectories, ground_truths):
    return [float(t.response == truth) for t, truth in zip(trajectories, ground_truths, strict=True)]


def plain_function(trajectory):
    return trajectory.response == trajectory.ground_truth


class Callable:
    def __call__(self, response, ground_truth):
        return float(response == ground_truth)


STYLES = [
    ByOne(), ByOneFloat(), ByOneAsync(), ByMany(), ByManyAsync(), ByCall(), ByCallAsync(), WithoutSuper(),
    AsDataclass(), by_function, by_function_async, by_lists, by_trajectories, FunctionReward(plain_function),
    FunctionReward(Callable()),
]  # fmt: skip
SAMPLES = [
    Trajectory(prompt="2+2?", response="4", ground_truth="4", group="a"),
    Trajectory(prompt="2+2?", response="5", ground_truth="4", group="a"),
    Trajectory(prompt="3+3?", response="6", ground_truth="6", group="b"),
]
EXPECTED = [1.0, 0.0, 1.0]
every_style = pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)


@every_style
def test_every_style_scores_the_same(style):
    outputs = score(style, SAMPLES)
    assert [output.reward for output in outputs] == EXPECTED
    assert [output.status for output in outputs] == [Status.OK] * 3
    assert all(output.latency_s is not None for output in outputs)


@every_style
def test_every_style_can_be_part_of_a_composite(style):
    composite = CompositeReward([(style, 0.5), (ByOne().named("again"), 0.25)])
    outputs = score(composite, SAMPLES)
    assert [output.reward for output in outputs] == [0.75, 0.0, 0.75]
    assert [output.components[style.name].reward for output in outputs] == EXPECTED


@every_style
def test_every_style_scores_inside_a_running_event_loop(style):
    async def inside():
        return score(style, SAMPLES)

    assert [output.reward for output in asyncio.run(inside())] == EXPECTED


@pytest.mark.parametrize("style", [s for s in STYLES if "async" not in s.name.lower()], ids=lambda style: style.name)
def test_both_computing_methods_exist_whichever_was_written(style):
    assert [float(as_number(value)) for value in style.compute_rewards(SAMPLES)] == EXPECTED
    assert [float(as_number(style.compute_reward(sample))) for sample in SAMPLES] == EXPECTED


def as_number(value):
    return value.reward if isinstance(value, RewardOutput) else value


@every_style
def test_calling_with_ground_truths_gives_a_list_of_numbers(style):
    truths = ["4", "5", "?"]
    assert style(SAMPLES, truths) == [1.0, 1.0, 0.0]


@every_style
def test_calling_with_one_trajectory_gives_its_output(style):
    output = style(SAMPLES[1])
    assert isinstance(output, RewardOutput)
    assert output.reward == 0.0


@pytest.mark.parametrize("style", [s for s in STYLES if not isinstance(s, FunctionReward)], ids=lambda s: s.name)
def test_rewards_pickle(style):
    assert [o.reward for o in score(pickle.loads(pickle.dumps(style)), SAMPLES)] == EXPECTED


def test_ground_truths_may_be_trajectories():
    truths = [Trajectory(prompt="", response="4"), Trajectory(prompt="", response="x", ground_truth="5")]
    assert ByOne()(SAMPLES[:2], truths) == [1.0, 1.0]
    assert score(by_trajectories, SAMPLES)[0].reward == 1.0


def test_calling_with_too_few_ground_truths_gives_both_numbers():
    with pytest.raises(ValueError, match="3 trajectories but 1 ground truths"):
        ByOne()(SAMPLES, ["4"])


def test_a_direct_call_raises_what_failed_and_none_means_not_scored():
    @reward
    def fails_on_five(response):
        return {"4": 1.0, "6": None}[response]

    assert fails_on_five([SAMPLES[0], SAMPLES[2]]) == [1.0, None]
    with pytest.raises(
        ScoringFailed, match=r"sample 1: fails_on_five raised KeyError: '5' \(at test_authoring.py:\d+\)"
    ):
        fails_on_five(SAMPLES)


class LowersByCall(ByCall):
    def __call__(self, trajectories, ground_truths):
        return [value / 2 for value in super().__call__(trajectories, ground_truths)]


class FailsByCall(RewardFunction):
    def __call__(self, trajectories, ground_truths):
        raise KeyError("absent")


def test_a_direct_call_of_a_class_for_pairs_is_scored_like_any_other():
    assert LowersByCall()(SAMPLES, ["4", "4", "6"]) == [0.5, 0.0, 0.5]
    assert [output.reward for output in score(LowersByCall(), SAMPLES)] == [0.5, 0.0, 0.5]
    with pytest.raises(ScoringFailed, match="FailsByCall raised KeyError"):
        FailsByCall()(SAMPLES, ["4", "4", "6"])


def test_a_class_without_a_reward_cannot_be_built():
    class Nothing(RewardFunction):
        pass

    with pytest.raises(TypeError, match="Nothing defines no reward: give it compute_reward"):
        Nothing()


def test_names_come_from_the_class_unless_set():
    class Named(ByOne):
        name = "right"

    class Sub(Named):
        pass

    instance = ByOne()
    instance.name = "mine"
    assert (ByOne().name, Named().name, Sub().name, instance.name) == ("ByOne", "right", "Sub", "mine")


def test_functions_get_fields_columns_metadata_and_foreign_names_by_parameter_name():
    seen = {}

    @reward
    def nosy(messages, difficulty, hint, answer, prompt_text, *, completion, unset=7, **rest):
        seen.update(locals())
        return 1.0

    sample = Trajectory(
        prompt="q", response="r", ground_truth="t", metadata={"hint": "h"}, columns={"difficulty": 3, "more": 1}
    )
    assert nosy([sample]) == [1.0]
    assert (seen["difficulty"], seen["hint"], seen["answer"], seen["completion"]) == (3, "h", "t", "r")
    assert (seen["prompt_text"], seen["unset"], seen["rest"]) == ("q", 7, {"more": 1})
    assert seen["messages"][-1] == {"role": "assistant", "content": "r"}


def test_a_column_of_the_data_goes_before_a_foreign_name():
    @reward
    def wants_answer(answer):
        return answer == "column"

    sample = Trajectory(prompt="", response="", ground_truth="truth", columns={"answer": "column"})
    assert wants_answer([sample]) == [1.0]


def test_batched_functions_get_columns_as_lists_and_settings_unchanged():
    @reward
    def batched(responses, difficulty, bonus=0.5):
        return [d + bonus for d in difficulty]

    samples = [Trajectory(prompt="", response="", columns={"difficulty": d}) for d in (1, 2)]
    assert batched(samples) == [1.5, 2.5]


def test_a_parameter_nobody_can_fill_is_an_error_with_a_hint():
    @reward
    def typo(respnse):
        return 1.0

    [output] = score(typo, SAMPLES[:1])
    assert output.status is Status.ERROR
    assert "asks for 'respnse', which the sample does not have; did you mean 'response'?" in output.reason


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: reward(lambda: 1.0), "takes no parameter that plaudit could fill"),
        (lambda: FunctionReward(3), "must be callable, got int"),
        (lambda: reward(scope="group")(lambda response: 1.0), "asks for one sample at a time"),
        (lambda: CompositeReward([(ByOne, 1.0)]), r"ByOne is a class; make a reward of it first: ByOne\(...\)"),
        (lambda: CompositeReward([]), "at least one reward"),
        (lambda: CompositeReward([ByOne()]), r"\(reward, weight\) pairs"),
        (lambda: CompositeReward([(ByOne(), "0.5")]), "a weight is a number or a Schedule, got str"),
        (lambda: CompositeReward([(ByOne(), float("nan"))]), "finite"),
        (lambda: FunctionReward(max), "cannot be read"),
    ],
    ids=range(9),
)
def test_rewards_built_wrongly_fail_before_the_first_sample(build, message):
    with pytest.raises(InvalidSettings, match=message):
        build()


def test_the_decorated_function_itself_stays_at_hand():
    assert by_function.function("4", "4") == 1.0
    assert by_function.name == "by_function"


@reward
def brief(response: str, ground_truth: str = "x", *, limit: int = 3) -> float:
    """Reward brevity."""
    return float(len(response) <= limit)


@reward
def shares(responses: list[str]) -> list[float]:
    return [1.0 / len(responses) for _ in responses]


CALLS = {
    "positional": (lambda: brief("ab"), 1.0),
    "several": (lambda: brief("abcd", "x", limit=4), 1.0),
    "by keyword": (lambda: brief(response="abcd"), 0.0),
    "a list of texts": (lambda: shares(["a", "b"]), [0.5, 0.5]),
    "a trajectory": (lambda: brief(Trajectory(prompt="p", response="ab")).reward, 1.0),
    "trajectories": (lambda: brief([Trajectory(prompt="p", response="abcd")]), [0.0]),
    "trajectories and truths": (lambda: brief([Trajectory(prompt="p", response="abcd")], ["x"]), [0.0]),
    "trajectories by keyword": (lambda: brief(trajectories=[Trajectory(prompt="p", response="abcd")]), [0.0]),
    "dicts": (lambda: brief([{"prompt": "p", "response": "abcd"}]), [0.0]),
    "nothing": (lambda: brief([]), []),
}


@pytest.mark.parametrize(("call", "expected"), CALLS.values(), ids=CALLS)
def test_a_decorated_function_is_still_callable_as_one(call, expected):
    assert call() == expected


def test_a_decorated_function_called_as_one_raises_like_one():
    with pytest.raises(TypeError, match="unexpected keyword argument 'lenght'"):
        brief("ab", lenght=3)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'response'"):
        brief()


def test_a_decorated_async_function_called_as_one_is_awaited():
    @reward
    async def later(response):
        return float(len(response))

    async def call():
        return await later("abc")

    assert asyncio.run(call()) == 3.0


def trl_function(completions, answer, **kwargs):
    return [float(truth in completion) for completion, truth in zip(completions, answer, strict=True)]


def test_a_function_of_completions_is_called_as_trainers_call_it():
    samples = [Trajectory("2 + 2?", text, ground_truth="4") for text in ("4", "5")]
    made = reward(trl_function)
    assert [output.reward for output in score(made, samples)] == [1.0, 0.0]
    assert (0.5 * made)(samples) == [0.5, 0.0]
    assert made(["It is 4"], answer=["4"]) == [1.0]


def test_settings_of_the_decorator_hold_for_a_function_of_completions_too():
    made = reward(trl_function, name="right", bounds=(0.0, 1.0), scope="group", deterministic=True)
    assert (made.name, made.bounds, made.scope, made.deterministic) == ("right", (0.0, 1.0), "group", True)


def test_a_misspelt_setting_of_the_decorator_is_an_error_with_the_right_name():
    with pytest.raises(InvalidSettings, match=r"no parameter 'bonds'; did you mean 'bounds'\? \(it has name, scope"):
        reward(bonds=(0.0, 1.0))
