"""Built-in environments: documented numbers, hints that help, tests whose messages are feedback; and check_env."""

import asyncio
import random
from typing import ClassVar

import pytest

from plaudit.agents import (
    ENVIRONMENTS,
    CodeFeedback,
    Environment,
    EpisodeStart,
    MathRetries,
    StepResult,
    TreasureHunt,
    build_environment,
)
from plaudit.errors import AgentError
from plaudit.loading import load_agent
from plaudit.testing import Rule, check_env


def play(environment, start, *actions):
    async def run():
        await environment.reset(start)
        return [await environment.step(action) for action in actions]

    return asyncio.run(run())


def test_math_retries_gives_the_documented_texts_and_rewards_and_a_score_of_0_or_1():
    first, second, last = play(MathRetries(), EpisodeStart("6 x 7?", "42"), "it = 41", "no idea", "= 43")
    assert first.feedback == "\n\n[INCORRECT] Try again. Think step-by-step:\n\n\nAssistant: "
    assert second.feedback == "\n\n[NO ANSWER FOUND] Please state the final answer:\n\n\nAssistant: "
    assert (last.done, last.reward, last.score) == (True, -0.3, 0.0)
    [right] = play(MathRetries(), EpisodeStart("6 x 7?", "42"), "The answer is: 42")
    assert (right.feedback, right.reward, right.score) == ("\n\n[CORRECT! Episode complete]\n", 1.0, 1.0)
    assert right.logs == {"step": 1, "correct": True, "attempts": 1}


def test_the_treasure_is_never_behind_the_first_door_and_the_note_says_where_it_is():
    for seed in range(40):
        first = play(TreasureHunt(), EpisodeStart("?", seed=seed), "c")[0]
        door = first.feedback[-1]
        assert door != "c"
        assert play(TreasureHunt(), EpisodeStart("?", seed=seed), "c", door)[-1].score == 1.0
    silent = build_environment("treasure_hunt", {"hints": False})()
    assert "?" in play(silent, EpisodeStart("?", seed=1), "c")[0].feedback


def test_the_message_of_the_failing_test_is_the_observation():
    environment = CodeFeedback()
    environment.reset(EpisodeStart("Write add.", ["assert add(1, 2) == 3", "assert add(2, 2) == 4"]))
    wrong = environment.step("```python\ndef add(a, b):\n    return a * b\n```")
    assert (wrong.done, wrong.score) == (False, 0.5)
    assert "1 of 2 tests passed" in wrong.feedback
    assert "add(1, 2)" in wrong.feedback
    right = environment.step("```python\ndef add(a, b):\n    return a + b\n```")
    assert (right.done, right.reward, right.score) == (True, 1.0, 1.0)
    assert "no program" in environment.step("").feedback


@pytest.mark.parametrize("name", [name for name in ENVIRONMENTS if name != "code_feedback"])
def test_every_built_in_environment_keeps_the_contract(name):
    assert [finding for finding in check_env(ENVIRONMENTS[name]) if finding.rule is not Rule.RANGE] == []


class _Environment(Environment):
    turns = 0

    def reset(self, start):
        self.start = start

    def step(self, action):
        self.turns += 1
        return StepResult("?", done=self.turns >= 2, reward=1.0)


class Chancy(_Environment):
    def step(self, action):
        return StepResult("?", done=True, reward=random.random())


class Raising(_Environment):
    def step(self, action):
        return StepResult(str(float(action)), done=True)


class Endless(_Environment):
    def step(self, action):
        return StepResult("?", done=False)


class Sharing(_Environment):
    seen: ClassVar[list[str]] = []

    def reset(self, start):
        self.seen.clear()

    def step(self, action):
        self.seen.append(action)
        return StepResult("?", done=len(self.seen) >= 3, reward=float(len(self.seen)))


class Undead(_Environment):
    def step(self, action):
        self.turns += 1
        return StepResult("?", done=self.turns == 1)


class Overrated(_Environment):
    def step(self, action):
        return StepResult("?", done=True, score=2.0)


class Wrong(_Environment):
    def step(self, action):
        return {"done": True}


@pytest.mark.parametrize(
    ("environment", "rule"),
    [
        (Chancy, Rule.DETERMINISTIC),
        (Raising, Rule.TOTAL),
        (Endless, Rule.ENDS),
        (Sharing, Rule.INDEPENDENT),
        (Undead, Rule.FINAL),
        (Overrated, Rule.RANGE),
        (Wrong, Rule.TOTAL),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_check_env_finds_what_breaks_the_contract(environment, rule):
    findings = check_env(environment)
    assert rule in [finding.rule for finding in findings]
    assert all(finding.remedy for finding in findings)


class Floods(_Environment):
    def step(self, action):
        return StepResult("a" * 300_000, done=False, reward=0.0)


class HalfCharacters(_Environment):
    def step(self, action):
        return StepResult(b"\xff".decode(errors="surrogateescape"), done=True, reward=0.0)


class ChancyState(_Environment):
    def step(self, action):
        return StepResult("?", done=True, reward=0.0, state=str(random.random()))


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        (Floods, "more than 200,000 characters"),
        (HalfCharacters, "feedback is no valid text"),
        (ChancyState, "step 1: state '0."),
    ],
)
def test_check_env_says_what_is_wrong_in_these_words(environment, words):
    [finding] = check_env(environment)
    assert words in finding.message


def test_a_sound_environment_has_no_findings():
    assert check_env(_Environment) == []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tresure_hunt", "did you mean 'treasure_hunt'"),
        ("treasure_hunt(hint=False)", "did you mean 'hints'"),
        ("treasure_hunt(hints=3)", "hints: expected `bool`, got `int`"),
        ("treasure_hunt(__import__('os'))", "write settings as"),
        ("plaudit.agents:Nothing", "no class 'Nothing'"),
        ("no.such.module:Thing", "No module named"),
        ("plaudit.agents:Episode", "has no `reset` and `step`"),
    ],
)
def test_a_spec_that_names_no_environment_is_refused(spec, message):
    with pytest.raises(AgentError, match=message):
        load_agent(spec)


def test_a_spec_may_name_a_class_in_a_module():
    assert load_agent("plaudit.agents:TreasureHunt").environment is TreasureHunt
