"""YAML files, from text to a scored sample."""

import pytest

from plaudit import Trajectory
from plaudit.contract.scoring import score_samples
from plaudit.errors import RewardNotLoaded
from plaudit.loading import load, resolve

CONSTANTS = """
    from plaudit import RewardFunction
    class Fixed(RewardFunction):
        def __init__(self, value=1.0):
            self.value = value
        def compute_reward(self, trajectory):
            return self.value
"""


@pytest.fixture
def score(write):
    """`score(yaml)` is the output for one sample, with `fixed.py:Fixed(value=…)` at hand."""
    write("folder/fixed.py", CONSTANTS)

    def scored(text):
        write("folder/reward.yaml", text)
        (output,) = score_samples(
            load("folder/reward.yaml"), [Trajectory("Hi", "Ho", ground_truth="3", training_step=5)]
        )
        return output

    return scored


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("reward: fixed.py:Fixed(value=0.25)", 0.25, id="reward"),
        pytest.param("reward: {reward: fixed.py}", 1.0, id="nested reward"),
        pytest.param("sum: [fixed.py, 'fixed.py:Fixed(value=2)']", 3.0, id="sum"),
        pytest.param(
            "sum: [{reward: fixed.py, weight: 0.7}, {reward: 'fixed.py:Fixed(value=0)', weight: 0.3}]",
            0.7,
            id="weights",
        ),
        pytest.param("sum: [{reward: {product: [fixed.py, fixed.py]}, weight: 3}]", 3.0, id="weighted mapping"),
        pytest.param("sum: [{product: [fixed.py, 'fixed.py:Fixed(value=4)'], weight: 0.5}]", 2.0, id="weighted kind"),
        pytest.param("product: ['fixed.py:Fixed(value=3)', 'fixed.py:Fixed(value=2)']", 6.0, id="product"),
        pytest.param("minimum: ['fixed.py:Fixed(value=3)', 'fixed.py:Fixed(value=2)']", 2.0, id="minimum"),
        pytest.param("maximum: ['fixed.py:Fixed(value=3)', 'fixed.py:Fixed(value=2)']", 3.0, id="maximum"),
        pytest.param("lexicographic: [fixed.py, fixed.py]", 1.0, id="lexicographic"),
        pytest.param("gate: {reward: fixed.py, on: 'fixed.py:Fixed(value=0.9)', at: 0.8}", 1.0, id="open gate"),
        pytest.param(
            "gate: {reward: fixed.py, on: {reward: 'fixed.py:Fixed(value=0.7)'}, at: 0.8, otherwise: -1}",
            -1.0,
            id="closed gate",
        ),
        pytest.param(
            "TaskReward: {rewards: {a: fixed.py}, default: 'fixed.py:Fixed(value=4)'}", 4.0, id="another task"
        ),
        pytest.param("reward: fixed.py:Fixed(value=7)\nclip: [0, 1]", 1.0, id="clip"),
        pytest.param("reward: fixed.py:Fixed(value=7)\nclip: [null, 2]", 2.0, id="clip one end"),
        pytest.param("reward: fixed.py:Fixed(value=7)\nnormalized: group", 0.0, id="normalized"),
        pytest.param("reward: 2 * 'fixed.py' - 0.5", 1.5, id="expression with a file"),
        pytest.param("minimum('fixed.py', 2 * 'fixed.py')", 1.0, id="expression alone"),
        pytest.param("cautious: {rewards: [fixed.py, 'fixed.py:Fixed(value=3)'], penalty: 0.5}", 1.5, id="parameters"),
        pytest.param("median: [fixed.py, 2 * 'fixed.py', {reward: fixed.py, name: c}]", 1.0, id="median"),
        pytest.param("bonus: {reward: fixed.py, extras: [[fixed.py, 0.5]]}", 1.5, id="bonus"),
        pytest.param("gdpo: [[fixed.py, 1.0]]", 0.0, id="gdpo"),
        pytest.param("lexicographic: {rewards: [fixed.py, fixed.py], resolution: 0.5}", 1.0, id="resolution"),
        pytest.param("reward: fixed.py:Fixed(value=7)\nscale: {source: [0, 14], to: [0, 2]}", 1.0, id="scale"),
        pytest.param("reward: fixed.py:Fixed(value=7)\nfloor: 8", 8.0, id="floor"),
        pytest.param("reward: fixed.py\nsigmoid: {reference: 1}", 0.5, id="sigmoid"),
        pytest.param("math\n", 0.0, id="built-in alone"),
        pytest.param("length: {target: 1}", 1.0, id="built-in with settings"),
        pytest.param("sum: [{length: {target: 1}, weight: 2}]", 2.0, id="built-in in a sum"),
        pytest.param("length: {target: 1}\nsmooth: 0.2", 0.9, id="smooth"),
    ],
)
def test_a_yaml_file_scores_as_it_says(score, text, expected):
    output = score(text)
    assert output.reward == pytest.approx(expected), output.reason


def test_a_weight_in_yaml_may_be_a_schedule(score):
    assert score("sum: [{reward: fixed.py, weight: 'LinearSchedule(0, 1, steps=10)'}]").reward == 0.5


def test_names_in_yaml_are_the_names_of_components(score):
    output = score("""
        name: total
        sum:
          - {reward: fixed.py, weight: 0.7, name: correct}
          - {minimum: [fixed.py, fixed.py], weight: 0.3, name: worst}
    """)
    assert list(output.components) == ["correct", "worst"]
    assert list(output.components["worst"].components) == ["Fixed", "Fixed_2"]
    assert load("folder/reward.yaml").name == "total"


def test_a_named_and_clipped_reward_bears_its_name_once(score):
    output = score("sum: [{reward: fixed.py, clip: [0, 0.5], name: bounded}]")
    assert output.components["bounded"].reward == 0.5


def test_a_yaml_file_may_refer_to_another_in_its_folder(score, write):
    write("folder/inner.yml", "reward: fixed.py:Fixed(value=0.5)")
    assert score("sum: [inner.yml, inner.yml]").reward == 1.0


def test_an_expression_may_hold_a_yaml_file(score):
    score("reward: fixed.py")
    assert load("3 * 'folder/reward.yaml'")([Trajectory("Hi", "Ho")]) == [3.0]


def test_the_origin_of_a_composite_is_its_file(score):
    score("reward: fixed.py")
    assert (resolve("folder/reward.yaml").convention, resolve("folder/reward.yaml").origin) == (
        "plaudit",
        "reward.yaml",
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("sume: [length]", ["unknown key 'sume'", "did you mean 'sum'?"], id="unknown key"),
        pytest.param("sum: [{reward: length, wieght: 1}]", ["sum[0]", "'wieght'", "'weight'?"], id="key of an item"),
        pytest.param(
            "gate: {reward: length, onn: math, at: 1}",
            ["gate has no parameter 'onn'", "did you mean 'on'?"],
            id="key of a gate",
        ),
        pytest.param("product: [{reward: length, weight: 2}]", ["weights belong to the items of a sum"], id="weight"),
        pytest.param("weight: 2\nreward: length", ["unknown key 'weight'"], id="weight of the whole"),
        pytest.param("name: x", ["exactly one of reward, sum", "it has none"], id="no kind"),
        pytest.param("sum: [length]\nproduct: [length]", ["it has sum and product"], id="two kinds"),
        pytest.param("[length]", ["the file must be a spec or a mapping"], id="list"),
        pytest.param("", ["the file must be a spec or a mapping"], id="empty"),
        pytest.param("sum: length", ["sum must be a list of rewards"], id="no list"),
        pytest.param("sum: []", ["sum must be a list of rewards"], id="empty list"),
        pytest.param("sum: [3]", ["sum[0] must be a spec or a mapping, got 3"], id="number"),
        pytest.param(
            "gate: length", ["gate needs other arguments: missing a required argument: 'on'"], id="gate without mapping"
        ),
        pytest.param("TaskReward: length", ["the rewards of tasks are a mapping"], id="tasks without mapping"),
        pytest.param("TaskReward: {rewards: {a: lenght}}", ["did you mean 'length'"], id="reward of a task"),
        pytest.param(
            "gate: {reward: length, at: 0.5}",
            ["gate needs other arguments: missing a required argument: 'on'"],
            id="gate without on",
        ),
        pytest.param(
            "gate: {reward: length, on: math, at: high}", ["at must be a number, got 'high'"], id="gate at text"
        ),
        pytest.param("sum: [{reward: length, weight: true}]", ["weight must be a number"], id="weight true"),
        pytest.param("reward: length\nclip: [1, 0]", ["need low <= high"], id="clip reversed"),
        pytest.param("reward: length\nclip: [a, 0]", ["low must be a number, got 'a'"], id="clip text"),
        pytest.param("reward: length\nname: 3", ["name must be text, got 3"], id="name number"),
        pytest.param("reward: length\nnormalized: gruop", ["did you mean 'group'?"], id="normaliser"),
        pytest.param("reward: lenght", ["did you mean 'length'?"], id="spec"),
        pytest.param("sum: [length", ["cannot read", "line 1"], id="broken yaml"),
        pytest.param("reward: !!python/object/apply:os.getcwd []", ["cannot read", "python/object"], id="unsafe tag"),
        pytest.param("sum: &again [{sum: *again}]", ["nested too deeply"], id="alias to itself"),
        pytest.param("sum: [reward.yaml]", ["refers to itself", "reward.yaml → reward.yaml"], id="file in itself"),
    ],
)
def test_a_yaml_file_that_is_invalid_gives_the_place_and_the_reason(score, text, told):
    with pytest.raises(RewardNotLoaded) as caught:
        score(text)
    assert all(part in str(caught.value) for part in told), caught.value
