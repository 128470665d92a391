"""A world: an environment with a state, tools that change it, rules, and a user.

The rules that make its rewards hold:

1. A task is valid only if its gold calls earn 1 and doing nothing earns 0; both are played when the task is loaded.
2. A tool call succeeds, or it leaves the state as it was; either way its result is text that the agent reads.
3. The reward is 1 if, at the end of every turn, the state equals the state after the gold calls, the required values
   were stated, and no call broke a rule; else 0. Calls themselves are never compared. With `needs_results` the agent's
   calls must also have given the results that the gold calls give.
4. Only who `ended_by` names can end an episode. An episode that is cut off earns nothing.
"""

import enum
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple, get_type_hints

import msgspec

from plaudit.agents.environment import Environment, EpisodeStart, Example, StepResult, call_tool
from plaudit.errors import AgentError, did_you_mean
from plaudit.verify.tools.parsing import MalformedCall, ToolCall, parse_tool_calls
from plaudit.worlds.state import Change, as_data, changes, restore, snapshot
from plaudit.worlds.task import Task, states_value
from plaudit.worlds.users import ScriptedUser, User

SHOWN_CHANGES = 20


class EndedBy(enum.StrEnum):
    """Who ends an episode."""

    AGENT = "agent"
    """The first action without a tool call is the agent's answer, and the end."""
    USER = "user"
    """An action without a tool call is a message to the user; the episode ends when the user has nothing to say."""


class ToolEvent(NamedTuple):
    """A call as rules see it: the states before and after it, and the successful calls before it."""

    call: ToolCall
    ok: bool
    before: Any
    after: Any
    history: tuple[ToolCall, ...]


Rule = Callable[[ToolEvent], bool]


class World(Environment):
    """One episode of one task; the ground truth of its start is the id of the task.

    A subclass declares `policy`, `tools` (functions whose first parameter is the state), `ended_by`, and the class
    methods `build_state` and `build_tasks`. A rule is a function of a `ToolEvent` that returns whether it was kept;
    its docstring says what it demands.
    """

    policy: ClassVar[str] = ""
    rules: ClassVar[Sequence[Rule]] = ()
    user: ClassVar[User] = ScriptedUser()
    ended_by: ClassVar[EndedBy]
    needs_results: ClassVar[bool] = False
    leaves_out_invalid: ClassVar[bool] = False
    """Whether tasks that break rule 1 are left out, for tasks of others; `refused` lists them."""

    @classmethod
    def build_state(cls) -> Any:
        """A new initial state."""
        raise NotImplementedError

    @classmethod
    def build_state_of(cls, task: Task) -> Any:
        """A new initial state of one task, before its setup."""
        return cls.build_state()

    @classmethod
    def build_tasks(cls) -> Sequence[Task]:
        """All tasks."""
        raise NotImplementedError

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "tools" in vars(cls):
            cls.tools = tuple(map(_without_state, cls.tools))

    @classmethod
    def tasks(cls) -> dict[str, Task]:
        """The tasks by id, each checked by rule 1."""
        return {name: prepared.task for name, prepared in _prepare(cls).valid.items()}

    @classmethod
    def refused(cls) -> dict[str, str]:
        """The tasks that were left out, with the reasons."""
        return _prepare(cls).refused

    @classmethod
    def rows(cls, *, chat: bool = False) -> list[dict[str, Any]]:
        """The tasks as rows of prompts: a text, or chat messages with the policy as the system message."""

        def prompt(task: Task) -> Any:
            if not chat:
                return cls.introduce(task)
            return [{"role": "system", "content": cls.policy}, {"role": "user", "content": task.turns[0].user}]

        return [{"id": name, "prompt": prompt(task), "ground_truth": name} for name, task in cls.tasks().items()]

    @classmethod
    def examples(cls) -> list[Example]:
        """Every task with its solution."""
        starts = [EpisodeStart(row["prompt"], row["ground_truth"], seed=index) for index, row in enumerate(cls.rows())]
        return [Example(start, cls.solution(start.ground_truth)) for start in starts]

    @classmethod
    def introduce(cls, task: Task) -> str:
        """The first observation of an episode without chat messages: policy, tools and what the user says first."""
        tools = "\n".join(
            f"- {tool.__name__}{inspect.signature(tool)}: {inspect.cleandoc(tool.__doc__ or '')}"
            for tool in cls.tools_of(task)
        )
        how = '<tool_call>{"name": "…", "arguments": {…}}</tool_call>'
        return f"{cls.policy}\n\nTools, called as {how}:\n{tools}\n\nUser: {task.turns[0].user}\nAgent: "

    @classmethod
    def tools_of(cls, task: Task) -> Sequence[Callable[..., Any]]:
        """The tools that the introduction of a task lists."""
        return cls.tools

    @classmethod
    def solution(cls, task_id: str) -> list[str]:
        """Actions that earn 1: the gold calls of each turn, then a message with its required values."""
        return _solve(_find(cls, task_id).task)

    @classmethod
    def demonstrate(cls, task: Task) -> list[list[str]]:
        """The actions of episodes that show how to act, not all of them well; by default the solution."""
        return [_solve(task)]

    @classmethod
    def demonstrations(cls, tasks: Iterable[str]) -> list[dict[str, str]]:
        """Every action of the demonstrated episodes of these tasks, after all that came before it in its episode.

        A warm start learns these rows of prompts and responses (`data.demonstrations`).
        """
        rows = []
        for task_id in tasks:
            for actions in cls.demonstrate(_find(cls, task_id).task):
                episode = cls()
                text = episode.reset(EpisodeStart("", task_id)) or ""
                for action in actions:
                    rows.append({"prompt": text, "response": action})
                    text += action + episode.step(action).feedback
        return rows

    def reset(self, start: EpisodeStart) -> str | None:
        prepared = _find(type(self), start.ground_truth, start.seed)
        self.begin(prepared.task, prepared.start, prepared.goals)
        return self.task.turns[0].user if start.messages else self.introduce(self.task)

    def begin(self, task: Task, start: bytes, goals: "Sequence[Goal]") -> None:
        """Start an episode from a snapshot."""
        self.task, self.goals = task, goals
        self.kind: type = type(self.build_state_of(task))
        self.state = restore(self.kind, start)
        self.dialogue: list[tuple[str, str]] = [("user", task.turns[0].user)]
        self.history: list[ToolCall] = []
        self.results: list[str] = []
        self.broken: list[str] = []
        """The reasons for a lower reward: rules that were broken, and turns that were not done."""
        self.turn, self.has_ended = 0, False

    def fork(self) -> "World":
        """A copy of the episode as it stands, which shares nothing with it."""
        other = type(self)()
        vars(other).update({name: list(value) if type(value) is list else value for name, value in vars(self).items()})
        other.state = restore(self.kind, snapshot(self.state))
        return other

    def step(self, action: str) -> StepResult:
        if self.has_ended:
            return StepResult("", True, 0.0, logs={"ended": "a step after the end is not read"})
        calls = parse_tool_calls(action)
        return self._run(calls) if calls else self.say(action)

    def call(self, call: ToolCall | MalformedCall) -> tuple[str, bool]:
        """Run one call by rule 2, and check the rules; its result as text, and whether it succeeded."""
        data = snapshot(self.state)
        tools = {tool.__name__: _for_state(tool, self.state) for tool in self.tools}
        answer, ok = call_tool(tools, call)
        self.state = restore(self.kind, snapshot(self.state) if ok else data)
        if isinstance(call, ToolCall):
            event = ToolEvent(call, ok, restore(self.kind, data), self.state, tuple(self.history))
            self.broken += [
                f"rule: {inspect.cleandoc(rule.__doc__ or rule.__name__)}" for rule in self.rules if not rule(event)
            ]
            self.history += [call] if ok else []
            self.results += [answer] if ok else []
        return answer, ok

    def _run(self, calls: Sequence[ToolCall | MalformedCall]) -> StepResult:
        before = as_data(self.state)
        results = [self.call(each) for each in calls]
        logs = {
            "calls": [_show_call(each, *result) for each, result in zip(calls, results, strict=True)],
            "changes": _show_changes(changes(before, as_data(self.state))),
        }
        feedback = "\n".join(answer for answer, _ in results)
        return StepResult(f"\n{feedback}\n", False, 0.0, logs=logs, role="tool")

    def say(self, message: str) -> StepResult:
        """The result of a message to the user."""
        self.dialogue.append(("agent", message))
        reply = None if self.ended_by is EndedBy.AGENT else self.user.reply(self.task, self.dialogue)
        if reply is None or self.user.follows_turns:
            self._judge_turn()
        if reply is not None:
            self.dialogue.append(("user", reply))
            return StepResult(f"\nUser: {reply}\nAgent: ", False, 0.0)
        self.has_ended = True
        earned = float(not self.broken)
        return StepResult("", True, earned, score=earned, logs={"ended": self.ended_by.value, "broken": self.broken})

    def _judge_turn(self) -> None:
        """Compare the state, and the messages since the user's last turn, with what this turn requires."""
        goal = self.goals[self.turn]
        wrong = changes(goal.state, as_data(self.state))
        self.broken += [f"turn {self.turn + 1}: {change}" for change in wrong[:SHOWN_CHANGES]]
        messages = [text for role, text in self.dialogue if role == "agent"]
        messages = messages[-1:] if self.user.follows_turns else messages
        missing = [value for value in self.task.turns[self.turn].outputs if not states_value(value, messages)]
        self.broken += [f"turn {self.turn + 1}: {value!r} was not stated" for value in missing]
        absent = [result for result in goal.results if self.needs_results and result not in self.results]
        self.broken += [f"turn {self.turn + 1}: no call gave {result:.200}" for result in absent]
        self.turn += 1


class Goal(NamedTuple):
    """The required result of a turn: the state as plain data, and the results of its gold calls."""

    state: Any
    results: list[str]


class _Prepared(NamedTuple):
    """A valid task: the snapshot that its episodes start from, and the goal of each turn."""

    task: Task
    start: bytes
    goals: list[Goal]


class _Tasks(NamedTuple):
    valid: dict[str, _Prepared]
    refused: dict[str, str]


@functools.cache
def _prepare(world: type[World]) -> _Tasks:
    """The tasks of a world by id; AgentError for the first that is not valid, unless the world leaves them out."""
    if not isinstance(getattr(world, "ended_by", None), EndedBy):
        raise AgentError(
            f"{world.__name__} does not declare who ends an episode; set ended_by = EndedBy.AGENT or .USER"
        )
    tasks = _Tasks({}, {})
    for task in world.build_tasks():
        if task.id in tasks.valid:
            raise AgentError(f"two tasks of {world.__name__} have the id {task.id!r}")
        try:
            tasks.valid[task.id] = _prepare_task(world, task)
        except AgentError as error:
            if not world.leaves_out_invalid:
                raise AgentError(f"task {task.id!r} of {world.__name__} is not valid: {error}") from None
            tasks.refused[task.id] = str(error)
    if not tasks.valid:
        raise AgentError(f"{world.__name__} has no valid tasks")
    return tasks


def _prepare_task(world: type[World], task: Task) -> _Prepared:
    if not task.turns or (len(task.turns) > 1 and (world.ended_by is EndedBy.AGENT or not world.user.follows_turns)):
        raise AgentError(
            f"it has {len(task.turns)} turns; only a scripted user that ends its episodes may have several"
        )
    episode = world()
    episode.begin(task, snapshot(world.build_state_of(task)), [])
    _run_gold(episode, task.setup, "setup")
    start, goals = snapshot(episode.state), []
    for index, turn in enumerate(task.turns):
        results = _run_gold(episode, turn.calls, f"turn {index + 1}")
        goals.append(Goal(as_data(episode.state), results))
    prepared = _Prepared(task, start, goals)
    earned, broken = _play(world, prepared, _solve(task))
    if earned != 1.0:
        raise AgentError(f"its gold calls do not earn 1: {'; '.join(broken)}")
    for name, actions in {
        "doing nothing": ["" for _ in task.turns],
        "repeating the user": [t.user for t in task.turns],
    }.items():
        if _play(world, prepared, actions)[0] != 0.0:
            raise AgentError(
                f"{name} earns 1; add gold calls that change the state, or outputs that the user does not say"
            )
    return prepared


def _run_gold(episode: World, calls: Sequence[ToolCall], where: str) -> list[str]:
    results = []
    for each in calls:
        answer, ok = episode.call(each)
        if not ok:
            raise AgentError(f"{where}: its call {write_call(each)} fails: {answer}")
        results.append(answer)
    return results


def _play(world: type[World], prepared: _Prepared, actions: Sequence[str]) -> tuple[float, list[str]]:
    """The reward of actions if the user sends the turns of the task, and the broken rules."""
    episode = world()
    vars(episode)["user"] = ScriptedUser()  # a model that plays the user is not called while tasks are loaded
    episode.begin(*prepared)
    earned = [episode.step(action).reward or 0.0 for action in actions]
    return sum(earned), episode.broken


def _solve(task: Task) -> list[str]:
    actions = []
    for turn in task.turns:
        actions += ["\n".join(map(write_call, turn.calls))] if turn.calls else []
        actions.append(f"It is: {'; '.join(map(str, turn.outputs))}." if turn.outputs else "It is done.")
    return actions


def _find(world: type[World], task_id: Any, seed: int = 0) -> _Prepared:
    prepared = _prepare(world).valid
    if task_id is None:
        return list(prepared.values())[seed % len(prepared)]
    if task_id not in prepared:
        raise AgentError(
            f"{world.__name__} has no task {task_id!r}{did_you_mean(str(task_id), prepared)}; "
            "the ground truth of an episode is the id of a task"
        )
    return prepared[task_id]


def write_call(call: ToolCall) -> str:
    """A call in the format that the introduction shows."""
    body = msgspec.json.encode({"name": call.name, "arguments": call.arguments}).decode()
    return f"<tool_call>{body}</tool_call>"


def _without_state(function: Callable[..., Any]) -> Callable[..., Any]:
    """A tool as agents see it: it checks the types of its arguments and returns text."""
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        raise AgentError(f"the tool {function.__name__} needs the state as its first parameter")
    signature = inspect.Signature(parameters[1:])
    hints = get_type_hints(function, include_extras=True)

    @functools.wraps(function)
    def tool(state: Any, /, *args: Any, **kwargs: Any) -> str:
        arguments = signature.bind(*args, **kwargs).arguments
        for name, value in arguments.items():
            try:
                arguments[name] = msgspec.convert(value, hints.get(name, Any))
            except msgspec.ValidationError as error:
                raise ValueError(f"{name}: {error}") from None
        result = function(state, **arguments)
        return result if isinstance(result, str) else msgspec.json.encode(result).decode()

    tool.__signature__ = signature  # type: ignore[attr-defined]
    return tool


def _for_state(tool: Callable[..., Any], state: Any) -> Callable[..., Any]:
    bound = functools.partial(tool, state)
    bound.__signature__ = tool.__signature__  # type: ignore[attr-defined]
    return bound


def _show_call(call: ToolCall | MalformedCall, answer: str, ok: bool) -> dict[str, Any]:
    if isinstance(call, MalformedCall):
        return {"malformed": call.text[:200], "result": answer, "ok": ok}
    arguments: Any = [*call.positional, call.arguments] if call.positional else call.arguments
    return {"name": call.name, "arguments": arguments, "result": answer, "ok": ok}


def _show_changes(listed: Sequence[Change]) -> list[dict[str, Any]]:
    return [change._asdict() for change in listed[:SHOWN_CHANGES]]
