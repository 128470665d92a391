"""Worlds: what earns a reward, which tasks are refused, who ends an episode, and what a failing tool leaves behind."""

import sqlite3

import msgspec
import pytest

from plaudit.agents import CharacterTokenizer, EpisodeLimits, EpisodeStart, Player, SamplingParams
from plaudit.errors import AgentError
from plaudit.testing import check_env
from plaudit.worlds import Database, EndedBy, Task, ToolEvent, Turn, World, call, states_value
from plaudit.worlds.world import write_call
from tests.agents.scripted import AnsweringSampler


class Account(msgspec.Struct):
    balance: int = 100
    notes: list[str] = []
    owner: str = "Ada"


def withdraw(state: Account, amount: int) -> str:
    """Take money out."""
    state.balance -= amount
    if state.balance < 0:
        raise ValueError("not enough money")
    return f"{state.balance} left"


def note(state: Account, text: str = "") -> str:
    """Write a note."""
    state.notes.append(text)
    return "noted"


def balance(state: Account) -> int:
    """The balance."""
    return state.balance


def corrupt(state: Account) -> str:
    """Leave a value of the wrong type."""
    state.balance = "much"
    return "done"


def never_below_ten(event: ToolEvent) -> bool:
    """The balance stays at 10 or more."""
    return event.after.balance >= 10


def task(*calls, outputs=(), **more) -> Task:
    return Task("t", (Turn("Do it.", tuple(calls), tuple(outputs)),), **more)


def world_of(*tasks: Task, **attributes) -> type[World]:
    methods = {
        "tools": (withdraw, note, balance, corrupt),
        "rules": (never_below_ten,),
        "ended_by": EndedBy.AGENT,
        "build_state": classmethod(lambda cls: Account()),
        "build_tasks": classmethod(lambda cls: tasks),
    }
    return type("Bank", (World,), {**methods, **attributes})


def play(world: type[World], *actions: str, task_id: str | None = None):
    episode = world()
    episode.reset(EpisodeStart("", task_id))
    return episode, [episode.step(action) for action in actions]


def earned(world: type[World], *actions: str) -> float:
    return sum(result.reward for result in play(world, *actions)[1])


BANK = world_of(task(call("withdraw", amount=30)))


def test_the_state_decides_and_not_the_calls():
    assert earned(BANK, write_call(call("withdraw", amount=30)), "Done.") == 1.0
    split = [write_call(call("withdraw", amount=10)), write_call(call("withdraw", amount=20))]
    assert earned(BANK, *split, "Done.") == 1.0
    assert earned(BANK, write_call(call("withdraw", amount=31)), "Done.") == 0.0
    assert earned(BANK, write_call(call("withdraw", amount=30)), write_call(call("note", text="x")), "Done.") == 0.0
    assert earned(BANK, "I have withdrawn 30.") == 0.0


def test_a_call_without_arguments_matches_no_gold_call():
    world = world_of(task(call("note", text="call back")))
    assert earned(world, write_call(call("note")), "Done.") == 0.0


def test_the_reward_says_what_was_wrong():
    _, results = play(BANK, write_call(call("withdraw", amount=31)), "Done.")
    assert results[0].logs["changes"] == [{"path": "balance", "before": 100, "after": 69}]
    assert results[0].logs["calls"][0]["result"] == "69 left"
    assert results[-1].logs["broken"] == "turn 1: balance: 70 -> 69"


@pytest.mark.parametrize(
    ("invalid", "reason"),
    [
        (task(), "doing nothing earns 1"),
        (task(call("balance")), "doing nothing earns 1"),
        (task(call("withdraw", amount=500)), "fails: error: ValueError: not enough money"),
        (task(call("withdrawal", amount=5)), "no tool named 'withdrawal'"),
        (task(call("withdraw", amount="30")), "amount: Expected `int`, got `str`"),
        (task(call("withdraw", amount=95)), "rule: The balance stays at 10 or more."),
        (task(outputs=["it"]), "repeating the user earns 1"),
        (task(call("withdraw", amount=1), setup=(call("withdraw", amount=101),)), "setup: its call"),
        (Task("t", ()), "it has 0 turns"),
        (Task("t", (Turn("a", (call("note"),)), Turn("b"))), "it has 2 turns"),
    ],
)
def test_a_task_whose_gold_calls_do_not_earn_1_or_that_pays_for_nothing_is_refused(invalid, reason):
    with pytest.raises(AgentError, match="task 't' of Bank is not valid") as raised:
        world_of(invalid).tasks()
    assert reason in str(raised.value)


def test_a_world_that_does_not_say_who_ends_an_episode_is_refused():
    with pytest.raises(AgentError, match="does not declare who ends an episode"):
        world_of(task(call("note")), ended_by=None).tasks()


def test_a_failing_call_is_a_result_and_changes_nothing():
    episode, [result] = play(BANK, write_call(call("withdraw", amount=500)))
    assert "error: ValueError: not enough money" in result.feedback
    assert (result.done, episode.state.balance) == (False, 100)


@pytest.mark.parametrize(
    "action",
    [
        '<tool_call>{"name": "withdraw", "arguments": {"amount": "30"}}</tool_call>',
        '<tool_call>{"name": "withdraw", "arguments": {"amount": 30.5}}</tool_call>',
        '<tool_call>{"name": "withdraw", "arguments": {"amount": true}}</tool_call>',
        '<tool_call>{"name": "withdraw", "arguments": {"state": {}, "amount": 30}}</tool_call>',
        '<tool_call>{"name": "withdraw", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "build_state", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "step", "arguments": {"action": "x"}}</tool_call>',
        "<tool_call>{broken",
    ],
)
def test_a_call_with_arguments_of_other_types_or_of_what_is_no_tool_is_not_made(action):
    episode, [result] = play(BANK, action)
    assert "error" in result.feedback
    assert episode.state == Account()


def test_a_tool_that_breaks_the_types_of_the_state_fails_the_episode():
    episode, _ = play(BANK)
    with pytest.raises(AgentError, match="breaks its own types"):
        episode.step(write_call(call("corrupt")))


def test_a_broken_rule_costs_the_reward_even_if_it_is_repaired():
    deposit = write_call(call("withdraw", amount=-95))
    actions = [write_call(call("withdraw", amount=95)), deposit, write_call(call("withdraw", amount=30))]
    episode, results = play(BANK, *actions, "Done.")
    assert results[-1].reward == 0.0
    assert episode.broken == ["rule: The balance stays at 10 or more."]


def test_a_rule_that_raises_fails_the_episode():
    def rule(event):
        raise KeyError("x")

    world = world_of(task(call("note", text="x")))
    world.tasks()
    world.rules = (rule,)
    with pytest.raises(KeyError):
        play(world, write_call(call("note")))


def two_turns(**attributes) -> type[World]:
    turns = (Turn("Take 30.", (call("withdraw", amount=30),)), Turn("What is left?", (), (70,)))
    return world_of(Task("t", turns), ended_by=EndedBy.USER, **attributes)


def test_every_turn_is_judged_when_it_ends():
    take = write_call(call("withdraw", amount=30))
    assert earned(two_turns(), take, "Taken.", "70 are left.") == 1.0
    assert earned(two_turns(), "Taken.", take, "70 are left.") == 0.0
    assert earned(two_turns(), take, "70", "Nothing.") == 0.0


def test_only_the_user_ends_an_episode_that_the_user_ends():
    take = write_call(call("withdraw", amount=30))
    _, results = play(two_turns(), take, "###STOP### exit", "70")
    assert [result.done for result in results] == [False, False, True]
    assert "User: What is left?" in results[1].feedback


def test_a_step_after_the_end_earns_nothing_and_stays_at_the_end():
    _, results = play(BANK, write_call(call("withdraw", amount=30)), "Done.", write_call(call("note")), "Done.")
    assert [(result.done, result.reward) for result in results[1:]] == [(True, 1.0), (True, 0.0), (True, 0.0)]


def test_an_episode_that_is_cut_off_earns_nothing():
    sampler = AnsweringSampler(lambda text: write_call(call("withdraw", amount=1)))
    player = Player(BANK, sampler, CharacterTokenizer(), EpisodeLimits(max_steps=30))
    import asyncio

    episode = asyncio.run(player.play(EpisodeStart("", "t"), SamplingParams(max_tokens=1000)))
    assert (episode.finish_reason, episode.reward, episode.score) == ("length", 0.0, None)


def test_a_fork_does_not_change_the_original_episode():
    episode, _ = play(two_turns(), write_call(call("withdraw", amount=30)))
    other = episode.fork()
    other.step(write_call(call("note", text="only here")))
    other.step("Taken.")
    assert (episode.state.notes, episode.turn, episode.dialogue) == ([], 0, [("user", "Take 30.")])
    assert [episode.step("Taken.").done, episode.step("70").reward] == [False, 1.0]
    assert other.step("70").reward == 0.0


def test_episodes_share_no_state():
    first, _ = play(BANK, write_call(call("note", text="x")))
    second, _ = play(BANK)
    assert (first.state.notes, second.state.notes) == (["x"], [])
    assert check_env(BANK) == []


def test_an_unknown_task_is_named():
    with pytest.raises(AgentError, match="Bank has no task 'u'"):
        play(BANK, task_id="u")


@pytest.mark.parametrize(
    ("value", "message", "is_stated"),
    [
        (10, "2100", False), (10, "10", True), (10, "10.5", False), (10, "It is 10.", True), (10, "1,010", False),
        (54.04, "$54.04", True), (54.04, "54.040", True), (1234.5, "1,234.50 dollars", True), (-3, "−3 degrees", True),
        (7, "W7", False), ("W7", "w7", True), ("W7", "W71", False), ("pending", "suspending", False),
        ("Elm Street 4", "elm  street 4", True), ("Elm Street 4", "Elm Street 42", False), ("", "anything", False),
        (42, " ".join(map(str, range(100))), False), ("yes", "yes no " * 300, False),
    ],
)  # fmt: skip
def test_values_are_stated_as_wholes_and_not_among_guesses(value, message, is_stated):
    assert states_value(value, [message]) is is_stated


class SqlState(Database):
    pass


def add_row(state: SqlState, name: str, count: int) -> str:
    """Add a row."""
    state.connection.execute("INSERT INTO stock VALUES (?, ?)", (name, count))
    if count < 0:
        raise ValueError("negative")
    return "added"


def sql_world() -> type[World]:
    gold = (call("add_row", name="a", count=1), call("add_row", name="b", count=2))
    script = "CREATE TABLE stock (name TEXT PRIMARY KEY, count INTEGER) STRICT;"
    return type(
        "Stock",
        (World,),
        {
            "tools": (add_row,),
            "ended_by": EndedBy.AGENT,
            "build_state": classmethod(lambda cls: SqlState(script)),
            "build_tasks": classmethod(lambda cls: [task(*gold)]),
        },
    )


def test_a_database_is_compared_by_rows_and_rolled_back():
    world = sql_world()
    rows = [write_call(call("add_row", name="b", count=2)), write_call(call("add_row", name="a", count=1))]
    failing = write_call(call("add_row", name="c", count=-1))
    assert earned(world, rows[0], failing, rows[1], "Done.") == 1.0
    assert earned(world, rows[0], "Done.") == 0.0
    episode, [result] = play(world, write_call(call("add_row", name="a", count="x")))
    assert "Expected `int`" in result.feedback
    other = episode.fork()
    other.step(rows[0])
    assert episode.state.as_data() == {"stock": []}
    with pytest.raises(sqlite3.IntegrityError):
        other.state.connection.execute("INSERT INTO stock VALUES ('z', 'text')")
