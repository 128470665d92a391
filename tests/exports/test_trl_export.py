"""Our rewards as TRL calls them."""

import inspect
import math
import pickle

import pytest

import plaudit
from plaudit import RewardOutput, Status, reward
from plaudit.errors import InvalidSettings, InvalidTrajectory, ScoringFailed
from plaudit.rewards import FormatReward, MathReward

pytestmark = pytest.mark.filterwarnings("ignore:.* was not scored:UserWarning")

PROMPTS = ["2+2?", "2+2?", "3+3?", "3+3?"]
COMPLETIONS = ["The answer is 4.", "5", "The answer is 6.", "no idea"]
TRUTHS = ["4", "4", "6", "6"]


@reward
def some(response):
    return None if "no" in response else 1.0 if "4" in response else 0.5


@reward(scope="group")
def first(responses):
    return [float(place == 0) for place in range(len(responses))]


def exported(subject, **options):
    return plaudit.export(subject, "trl", **{"backend": "inline", **options})


def test_an_exported_reward_gives_the_numbers_of_the_reward():
    function = exported(0.5 * MathReward() + 0.5 * FormatReward())
    assert function(prompts=PROMPTS, completions=COMPLETIONS, answer=TRUTHS) == [0.5, 0.0, 0.5, 0.0]


def test_chats_columns_and_tokens_reach_the_reward():
    seen = []

    @reward
    def look(trajectory):
        seen.append(trajectory)
        return 1.0

    chat = [{"role": "user", "content": "2+2?"}]
    exported(look)(
        prompts=[chat],
        completions=[[{"role": "assistant", "content": "4"}]],
        completion_ids=[[7, 8]],
        solution=["4"],
        level=[3],
        trainer_state=type("State", (), {"global_step": 5}),
    )
    (sample,) = seen
    assert (sample.prompt, sample.response, sample.ground_truth, sample.tokens.ids) == (chat, "4", "4", [7, 8])
    assert (sample.columns, sample.training_step) == ({"level": 3}, 5)


def test_trl_can_name_it_and_tell_that_it_is_not_async():
    function = exported("math")
    assert function.__name__ == "MathReward"
    assert not inspect.iscoroutinefunction(function)


@pytest.mark.parametrize(
    ("policy", "expected"),
    [(None, None), ("none", None), ("mean", 0.5), ("nan", math.nan)],
)
def test_unscored_samples_follow_the_policy(policy, expected):
    *others, last = exported(some, on_unscored=policy)(prompts=PROMPTS, completions=COMPLETIONS)
    assert others == [1.0, 0.5, 0.5]
    assert last == expected or (last is not None and math.isnan(last) and math.isnan(expected))


def test_raising_names_the_reason_and_other_policies_are_refused():
    with pytest.raises(ScoringFailed, match="1 of 4 samples were not scored: the reward returned None"):
        exported(some, on_unscored="raise")(prompts=PROMPTS, completions=COMPLETIONS)
    with pytest.raises(InvalidSettings, match="on_unscored for TRL is one of none, nan, mean, raise, got 'zero'"):
        exported(some, on_unscored="zero")
    with pytest.raises(InvalidSettings, match="no export for 'trk'; did you mean 'trl'"):
        plaudit.export("math", "trk")


def test_each_reason_is_reported_once_in_the_log_and_as_a_warning(caplog):
    function = exported("math")
    with pytest.warns(UserWarning, match="was not scored") as warned:
        values = [function(prompts=PROMPTS, completions=COMPLETIONS, expected=TRUTHS) for _ in range(2)]
    assert values == [[None] * 4] * 2
    (record,) = caplog.records
    assert record.name == "plaudit.exports"
    assert [str(each.message) for each in warned] == [record.getMessage()]
    for part in (
        "MathReward: sample 0 with the prompt '2+2?' was not scored (skipped): the sample has no ground truth "
        "(it has prompt, expected); if the reward needs one, map the column that holds it: ",
        "columns={'ground_truth': 'expected'} (plaudit export -c ground_truth=expected)",
    ):
        assert part in record.getMessage()


def test_a_column_can_be_mapped_to_a_field():
    function = exported("math", columns={"ground_truth": "expected"})
    assert function(prompts=PROMPTS, completions=COMPLETIONS, expected=TRUTHS, answer=["x"] * 4) == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(
        InvalidTrajectory, match="no column 'expected' to read 'ground_truth' from; did you mean 'expeced'"
    ):
        function(prompts=PROMPTS, completions=COMPLETIONS, expeced=TRUTHS)
    with pytest.raises(InvalidSettings, match="no field named 'ground_trth'"):
        exported("math", columns={"ground_trth": "expected"})


def test_columns_named_like_other_fields_do_not_stop_a_call():
    function = exported("math")
    columns = {"id": [1.5] * 4, "steps": ["first"] * 4, "info": ["see above"] * 4, "answer": TRUTHS}
    assert function(prompts=PROMPTS, completions=COMPLETIONS, **columns) == [1.0, 0.0, 1.0, 0.0]


def test_it_travels_to_another_process_and_starts_workers_of_its_own():
    function = plaudit.export("math", "trl", workers=1)
    travelled = pickle.loads(pickle.dumps(function))
    try:
        assert travelled(prompts=PROMPTS, completions=COMPLETIONS, answer=TRUTHS) == [1.0, 0.0, 1.0, 0.0]
    finally:
        travelled.close()
        function.close()


def test_a_reward_that_hangs_costs_its_own_sample(tmp_path):
    (tmp_path / "slow.py").write_text(
        "import time\n\ndef slow(response):\n    time.sleep(60 if 'hang' in response else 0)\n    return 1.0\n"
    )
    function = plaudit.export(f"{tmp_path}/slow.py:slow", "trl", workers=1, deadline_s=0.5)
    try:
        assert function(prompts=["a", "b"], completions=["hang", "fine"]) == [None, 1.0]
    finally:
        function.close()


def test_groups_need_their_size_and_a_cut_group_is_an_error():
    with pytest.raises(InvalidSettings, match="say group_size="):
        exported(first)
    function = exported(first, group_size=2)
    assert function(prompts=PROMPTS, completions=COMPLETIONS) == [1.0, 0.0, 1.0, 0.0]
    with pytest.raises(
        ScoringFailed, match="needs whole groups of 2, and the trainer gave 1 samples of the prompt '3\\+3\\?'"
    ):
        function(prompts=PROMPTS[:3], completions=COMPLETIONS[:3])


def test_components_and_the_share_not_scored_reach_the_log_of_the_trainer():
    logged = {}

    @reward
    def parts(response):
        if "no" in response:
            return RewardOutput.unscored(Status.SKIPPED, "no")
        return RewardOutput(1.0, components={"brief": RewardOutput(0.25)})

    exported(parts)(prompts=PROMPTS, completions=COMPLETIONS, log_metric=logged.__setitem__)
    assert logged == {"parts/unscored": 0.25, "parts/unscored/skipped": 0.25, "parts/brief": 0.25}
