"""Arithmetic on rewards in a spec."""

import pytest

from plaudit import Trajectory, reward
from plaudit.contract.scoring import score_samples
from plaudit.errors import RewardNotLoaded
from plaudit.loading import load
from plaudit.loading.building import Arguments, SpecTarget, build
from plaudit.loading.expressions import build_expression as read
from plaudit.rewards import LengthReward

SAMPLE = Trajectory("What is 2 + 2?", "2 + 2 = 4. The answer is 4.", ground_truth="4", training_step=5)


def value_of(text, **names):
    """An expression over constants: `value_of("a + b", a=1, b=2)`."""

    def look_up(name: str, arguments: Arguments | None):
        return build(SpecTarget(reward(lambda response: names[name]), name, name), arguments)

    (output,) = score_samples(read(text, look_up, lambda spec: look_up(spec, None)).reward, [SAMPLE])
    assert output.ok, output.reason
    return output.reward


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", 0.5),
        ("0.7 * a + 0.3 * b", 0.65),
        ("a * b", 0.5),
        ("a - b", -0.5),
        ("1 - a", 0.5),
        ("-a", -0.5),
        ("+a", 0.5),
        ("a / 2", 0.25),
        ("(a * 2 - 1).clip(0, 1)", 0.0),
        ("(2 + 1) * a", 1.5),
        ("a.floor(0.75)", 0.75),
        ("a.scale((0, 2))", 0.25),
        ("a.scale((0, 2), to=(0, 10))", 2.5),
        ("a.sigmoid(reference=0.5)", 0.5),
        ("a.gate(on=b, at=0.8)", 0.5),
        ("a.gate(b, 0.8)", 0.5),
        ("b.gate(on=a, at=0.8, otherwise=-1)", -1.0),
        ("b.gate(on=a + a, at=0.8)", 1.0),
        ("a.gate(on='b', at=0.8)", 0.5),
        ("a.normalized('group')", 0.0),
        ("a.named('first') + 'b'", 1.5),
        ("minimum(a, b)", 0.5),
        ("maximum(a, 'b')", 1.0),
        ("median(a, b, a)", 0.5),
        ("product(a, b, a)", 0.25),
        ("cautious(a, b, penalty=2)", 0.25),
        ("lexicographic(b, a, resolution=0.5)", 0.9),
        ("bonus(a, [(b, 0.5), ('a', 1)])", 1.0),
        ("gdpo([(a, 1.0), (b, 0.5)])", 0.0),
        ("TaskReward({'x': a}, default=b)", 1.0),
        ("TaskReward({'x': a}, default='b', column='kind')", 1.0),
        ("CompositeReward([(a, 2), (b, 1)], offset=0.5)", 2.5),
        ("LinearSchedule(0, 1, steps=10) * a", 0.25),
        ("a * CosineSchedule(1.0, 0.0, steps=10)", 0.25),
        ("PiecewiseSchedule(((0, 1.0), (5, 0.5))) * b", 0.5),
        ("a.normalized(GroupNormalizer(scale=False))", 0.0),
    ],
)
def test_an_expression_has_the_value_of_the_same_python_expression(text, expected):
    assert value_of(text, a=0.5, b=1.0) == pytest.approx(expected)


def test_a_name_given_in_an_expression_is_the_components_name():
    (output,) = score_samples(load("0.5 * length(target=3).named('size') + 0.5 * math"), [SAMPLE])
    assert next(iter(output.components)) == "size"


@pytest.mark.parametrize(
    "text",
    [
        "0.7 * check_answer + 0.3 * format",
        "math.gate(on=format, at=0.8)",
        "(length(target=50) * 2 - 1).clip(0, 1)",
        "keyword(required=['answer'])",
        "length",
    ],
)
def test_expressions_of_built_ins_score_a_sample(text):
    (output,) = score_samples(load(text), [SAMPLE])
    assert output.ok, output.reason


def test_a_long_expression_with_slashes_is_not_taken_for_a_path():
    text = " + ".join(["length(target=3) / 0.5"] * 100)
    assert len(score_samples(load(text), [SAMPLE])[0].components) == 100


def test_a_built_in_keeps_its_literal_arguments():
    assert repr(load("length(target=50)")) == repr(LengthReward(target=50)) != repr(LengthReward(target=51))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1 + 2", ["is the number 3, not a reward"]),
        ("length ** 2", ["'length ** 2' cannot stand in a reward expression"]),
        ("length // 2", ["cannot stand"]),
        ("[length]", ["cannot stand", "+ - * /"]),
        ("lambda: length", ["cannot stand"]),
        ("length if format else math", ["cannot stand"]),
        ("length > 0", ["cannot stand"]),
        ("not length", ["cannot stand"]),
        ("length[0]", ["cannot stand"]),
        ("True * length", ["'True' cannot stand"]),
        ("__import__('os').system('true')", ["cannot stand"]),
        ("length.__class__", ["length.__class__ is not a reward"]),
        ("length(target=3).__init__(4)", ["cannot stand"]),
        ("length(target=3).clp(0, 1)", ["did you mean 'clip'?"]),
        ("math.gat(on=format, at=0.8)", ["math.gat is not a reward", "did you mean 'gate'?"]),
        ("length.clip", ["call it: length.clip(…)"]),
        ("length / 0", ["'length / 0' makes no reward"]),
        ("length / format", ["'length / format' makes no reward"]),
        ("length.clip(1, 0)", ["makes no reward", "low <= high"]),
        ("length.clip(lowest=0)", ["makes no reward", "lowest"]),
        ("length.normalized('gruop')", ["did you mean 'group'?"]),
        ("1e999 * length", ["makes no reward", "finite"]),
        ("(2).clip(0, 1)", ["2 is a number", ".clip"]),
        ("length(**{'target': 3})", ["cannot be unpacked"]),
        ("0.5 * lenght", ["no reward named 'lenght'", "did you mean 'length'?"]),
        ("length +", ["cannot read the spec"]),
        ("LinearSchedule(0, 1, steps=10)", ["is a LinearSchedule, not a reward"]),
        ("LinearSchedule(0, 1, steps=10).clip()", ["is a LinearSchedule; only rewards have .clip"]),
        ("minimum(2, math)", ["makes no reward"]),
        ("minimum()", ["makes no reward", "at least one reward"]),
        ("cautious(math, penaltie=2)", ["no parameter 'penaltie'", "did you mean 'penalty'?"]),
        ("bonus(math, [format])", ["(reward, weight) pairs"]),
        ("math.gate(on=format, at='high')", ["at must be a number, got 'high'"]),
        pytest.param("(" * 5000 + "length" + ")" * 5000, ["cannot read the spec"], id="deep brackets"),
    ],
)
def test_an_invalid_reward_expression_is_refused_with_a_remedy(text, told):
    with pytest.raises(RewardNotLoaded) as caught:
        load(text)
    assert all(part in str(caught.value) for part in told), caught.value
