"""BFCL's multi-turn tasks as a world: eight stateful APIs and their tasks from the wheel `bfcl-eval`.

A turn is judged as in BFCL: public attributes of the API objects, and the results of the gold calls, which must be
among the results so far. Unlike there, a call whose result is an error changes nothing, a gold call that fails makes
its task invalid (`refused()` lists these), and turns without gold calls must leave the state as it is.
"""

import datetime
import importlib
import inspect
import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from plaudit.errors import AgentError, require
from plaudit.verify.tools.parsing import ToolCall, parse_python_calls
from plaudit.worlds.state import StoredState
from plaudit.worlds.task import Task, Turn
from plaudit.worlds.world import EndedBy, World

SOURCE = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code"
APIS = {
    "GorillaFileSystem": "gorilla_file_system", "MathAPI": "math_api", "MessageAPI": "message_api",
    "TwitterAPI": "posting_api", "TicketAPI": "ticket_api", "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking", "VehicleControlAPI": "vehicle_control",
}  # fmt: skip
STATELESS = "MathAPI"
CATEGORIES = ("base", "miss_param", "long_context")
"""`miss_func` is left out: it hides a tool until a later turn."""


class ApiObjects(StoredState):
    """The API objects of a task by class name; the public attributes are the state."""

    def __init__(self, objects: dict[str, Any]) -> None:
        self.objects = objects

    def snapshot(self) -> bytes:
        return pickle.dumps(self.objects)

    @classmethod
    def restore(cls, data: bytes) -> "ApiObjects":
        return cls(pickle.loads(data))

    def as_data(self) -> Any:
        return {name: _public(each, ()) for name, each in self.objects.items()}


class BfclWorld(World):
    """All tasks of a category whose APIs are among `apis`."""

    policy: ClassVar[str] = "Do what the user wants with the tools. When a request is done, say so in a short message."
    apis: ClassVar[tuple[str, ...]] = tuple(APIS)
    category: ClassVar[str] = "base"
    ended_by = EndedBy.USER
    needs_results = True
    leaves_out_invalid = True
    in_threads: ClassVar[bool] = True

    @classmethod
    def build_state_of(cls, task: Task) -> ApiObjects:
        objects = {}
        for name in task.data["apis"]:
            objects[name] = _api_class(name)()
            if name != STATELESS:
                config = json.loads(json.dumps(task.data["config"].get(name, {})))
                objects[name]._load_scenario(config, long_context=cls.category == "long_context")
        return ApiObjects(objects)

    @classmethod
    def build_tasks(cls) -> Sequence[Task]:
        package = require("bfcl_eval", package="bfcl-eval", purpose="BFCL's tasks")
        folder, name = Path(str(package.__file__)).parent / "data", f"BFCL_v4_multi_turn_{cls.category}.json"
        gold = {row["id"]: row["ground_truth"] for row in _read(folder / "possible_answer" / name)}
        rows = [row for row in _read(folder / name) if {*row["involved_classes"]} <= {*cls.apis}]
        return [_task(row, gold[row["id"]]) for row in rows]

    @classmethod
    def tools_of(cls, task: Task) -> Sequence[Callable[..., Any]]:
        shown = {name for api in task.data["apis"] for name in dir(_api_class(api))}
        return [tool for tool in cls.tools if tool.__name__ in shown]


def build_bfcl_world(*apis: str, category: str = "base") -> type[BfclWorld]:
    """The world of the tasks that need only these APIs (no names: all eight), with the methods of the APIs as tools."""
    if category not in CATEGORIES:
        raise AgentError(f"there is no category {category!r} here; there are {', '.join(CATEGORIES)}")
    unknown = [name for name in apis if name not in APIS]
    if unknown:
        raise AgentError(f"BFCL has no API {unknown[0]!r}; there are {', '.join(APIS)}")
    require("bfcl_eval", package="bfcl-eval", purpose="BFCL's tasks")
    tools = tuple(_tool(name, method) for name in apis or APIS for method in _methods(name))
    return type("BfclWorld", (BfclWorld,), {"apis": apis or tuple(APIS), "category": category, "tools": tools})


def _api_class(name: str) -> Any:
    return getattr(importlib.import_module(f"{SOURCE}.{APIS[name]}"), name)


def _methods(api: str) -> Iterator[Callable[..., Any]]:
    for name, method in inspect.getmembers(_api_class(api), inspect.isfunction):
        if not name.startswith("_"):
            yield method


def _tool(api: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A method as a tool of the world; what BFCL returns as an error is one."""

    def tool(state: ApiObjects, **arguments: Any) -> Any:
        if api not in state.objects:
            raise ValueError(f"this task has no {api}")
        result = getattr(state.objects[api], method.__name__)(**arguments)
        if isinstance(result, dict) and "error" in result:
            raise ValueError(result["error"])
        return result if isinstance(result, str) else json.dumps(result, default=str)

    parameters = list(inspect.signature(method).parameters.values())
    tool.__name__, tool.__doc__ = method.__name__, (inspect.getdoc(method) or "").partition("\n\n")[0]
    tool.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    tool.__annotations__ = {}
    return tool


def _task(row: dict[str, Any], gold: list[list[str]]) -> Task:
    turns = []
    for messages, calls in zip(row["question"], gold, strict=True):
        user = "\n".join(message["content"] for message in messages) or "(The user waits.)"
        turns.append(Turn(user, tuple(call for text in calls for call in _read_call(row["id"], text))))
    return Task(row["id"], tuple(turns), data={"apis": row["involved_classes"], "config": row["initial_config"]})


def _read_call(task: str, text: str) -> Iterator[ToolCall]:
    """A gold call, with all arguments by name."""
    calls = parse_python_calls(text.strip())
    for call in calls or [ToolCall(text)]:
        assert isinstance(call, ToolCall)
        methods = [method for api in APIS for method in _methods(api) if method.__name__ == call.name]
        names = list(inspect.signature(methods[0]).parameters)[1:] if methods else []
        yield ToolCall(call.name, {**dict(zip(names, call.positional, strict=False)), **call.arguments})


def _read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _public(value: Any, above: tuple[int, ...]) -> Any:
    """Public attributes as plain data; what contains itself is left out there."""
    if id(value) in above:
        return "(above)"
    if isinstance(value, dict):
        return {str(key): _public(each, (*above, id(value))) for key, each in value.items()}
    if isinstance(value, list | tuple | set):
        return [_public(each, (*above, id(value))) for each in value]
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if hasattr(value, "__dict__"):
        attributes = {name: each for name, each in vars(value).items() if not name.startswith("_") and name != "parent"}
        return _public(attributes, (*above, id(value)))
    return value
