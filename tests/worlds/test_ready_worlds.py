"""The ready-made worlds: enough tasks, each solved by its gold calls and by nothing less; BFCL judged as BFCL does."""

import itertools
import json

import pytest
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker

from plaudit.agents import EpisodeStart
from plaudit.audit import play_actions
from plaudit.cli import main
from plaudit.errors import AgentError
from plaudit.loading import load_agent
from plaudit.verify.tools.parsing import parse_tool_calls
from plaudit.worlds import WORLDS, World, build_bfcl_world
from plaudit.worlds.world import write_call

OURS = ("retail_desk", "calendar_desk")


def reward(world: type[World], task_id: str, actions: list[str]) -> float:
    episode = world()
    episode.reset(EpisodeStart("", task_id))
    return sum(episode.step(action).reward for action in actions)


@pytest.mark.parametrize("name", OURS)
def test_each_task_is_solved_by_its_gold_calls_and_not_by_doing_nothing(name):
    world = WORLDS[name]
    assert len(world.tasks()) >= 30
    for task_id, task in world.tasks().items():
        assert reward(world, task_id, world.solution(task_id)) == 1.0
        assert reward(world, task_id, ["" for _ in task.turns]) == 0.0


@pytest.mark.parametrize("name", OURS)
def test_no_two_tasks_are_solved_by_the_same_actions(name):
    world = WORLDS[name]
    solutions = {tuple(world.solution(task_id)) for task_id in world.tasks()}
    assert len(solutions) == len(world.tasks())


@pytest.mark.parametrize("name", OURS)
def test_each_gold_call_that_changes_the_state_is_needed(name):
    world = WORLDS[name]
    for task_id in world.tasks():
        actions = world.solution(task_id)
        for index, action in enumerate(actions):
            calls = parse_tool_calls(action)
            for left_out in range(len(calls)):
                fewer = "\n".join(write_call(call) for at, call in enumerate(calls) if at != left_out) or "…"
                episode = world()
                episode.reset(EpisodeStart("", task_id))
                for before in actions[:index]:
                    episode.step(before)
                for call in calls[:left_out]:
                    episode.call(call)
                state = episode.fork().state
                episode.call(calls[left_out])
                if episode.state != state:
                    assert reward(world, task_id, [*actions[:index], fewer, *actions[index + 1 :]]) == 0.0


def test_the_retail_desk_notices_what_its_policy_forbids():
    world = WORLDS["retail_desk"]
    identify, cancel = parse_tool_calls(world.solution("cancel-W101")[0])
    assert reward(world, "cancel-W101", [write_call(cancel), write_call(identify), "Done."]) == 0.0


def test_a_world_is_loaded_and_played_in_a_process_by_its_name():
    world = load_agent("calendar_desk").environment
    played = play_actions("calendar_desk", EpisodeStart("", "cancel-hire"), world.solution("cancel-hire"))
    assert played.reward == 1.0


def bfcl_verdict(world, task_id: str, actions: list[str], run: str) -> bool:
    """What BFCL's own checker says; an action is a step of the turn that the next message ends."""
    task = world.tasks()[task_id]
    turns, steps = [], []
    for action in actions:
        calls = parse_tool_calls(action)
        if calls:
            steps.append([as_python(call) for call in calls])
        else:
            turns.append(steps)
            steps = []
    gold = [[as_python(call) for call in turn.calls] for turn in task.turns]
    entry = {"initial_config": task.data["config"], "involved_classes": task.data["apis"], "id": f"{task_id}_{run}"}
    return multi_turn_checker(turns, gold, entry, "multi_turn_base", run)["valid"]


def as_python(call) -> str:
    return f"{call.name}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


def without_a_call(actions: list[str], which: int) -> list[str]:
    """The actions without the n-th call."""
    shorter, seen = [], 0
    for action in actions:
        calls = parse_tool_calls(action)
        kept = [call for at, call in enumerate(calls, seen) if at != which]
        seen += len(calls)
        if not calls or kept:
            shorter.append("\n".join(map(write_call, kept)) if kept else action)
    return shorter


def test_bfcl_tasks_are_judged_as_bfcl_judges_them():
    world = build_bfcl_world()
    assert (len(world.tasks()), world.refused()) == (200, {})
    differing = []
    for task_id in list(world.tasks())[::4]:
        gold = world.solution(task_id)
        count = sum(len(parse_tool_calls(action)) for action in gold)
        for name, actions in {"gold": gold, "less": without_a_call(gold, count // 2)}.items():
            ours = reward(world, task_id, actions) == 1.0
            if ours != bfcl_verdict(world, task_id, actions, f"run_{name}"):
                differing.append((task_id, name, ours))
    assert differing == []


def test_bfcl_names_an_unknown_api():
    with pytest.raises(AgentError, match="BFCL has no API 'Nope'"):
        build_bfcl_world("Nope")
    with pytest.raises(AgentError, match="no category 'miss_func'"):
        build_bfcl_world(category="miss_func")


def run(*words):
    with pytest.raises(SystemExit) as exited:
        main(["world", *map(str, words)])
    return exited.value.code


def test_held_out_tasks_are_neither_trained_on_nor_demonstrated(tmp_path, capfd):
    out, held_out, shown = (tmp_path / name for name in ("room.jsonl", "held.jsonl", "shown.jsonl"))
    assert run("tasks", "robot_room", "-o", out, "--held-out", held_out, "--demonstrations", shown) == 0
    rows, apart, actions = (
        [json.loads(line) for line in path.read_text().splitlines()] for path in (out, held_out, shown)
    )
    assert (len(rows), len(apart)) == (160, 40)
    prompts = {row["prompt"] for row in rows}
    assert {row["prompt"][:5] for row in actions} == prompts
    assert not prompts & {row["prompt"] for row in apart}
    first = [row["response"] for row in actions if row["prompt"] in prompts]
    assert 0.4 < first.count("[see()]") / len(first) < 0.6  # half of the demonstrations do not look
    assert run("tasks", "robot_room", "--chat", "--demonstrations", shown) == 2
    assert "are texts" in capfd.readouterr().err


def test_demonstrations_of_a_world_are_its_solutions_turn_by_turn():
    [task, *_] = WORLDS["retail_desk"].tasks()
    rows = WORLDS["retail_desk"].demonstrations([task])
    assert [row["response"] for row in rows] == WORLDS["retail_desk"].solution(task)
    for before, after in itertools.pairwise(rows):
        assert after["prompt"].startswith(before["prompt"] + before["response"])


@pytest.mark.parametrize(
    ("words", "reason"),
    [(["--port", "1"], "name it with --task"), (["--openenv"], "needs --port"),
     (["--openenv", "--port", "1", "--task", "room-1"], "neither --task"), (["--ors"], "needs --port")],
)  # fmt: skip
def test_a_server_of_a_world_needs_a_task_or_a_port(words, reason, capfd):
    assert run("serve", "robot_room", *words) == 2
    assert reason in " ".join(capfd.readouterr().err.split())
