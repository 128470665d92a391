"""Systems that evaluate or play: Inspect, NeMo Gym, SkyRL, verifiers. How each calls a reward."""

import math
from collections.abc import Mapping
from typing import Any

from plaudit.errors import require
from plaudit.exports.convention import MEAN, Export
from plaudit.exports.exported import AsyncExportedReward, Call, ExportedReward, ExportSettings, OnUnscored


def inspect_call(reward: ExportedReward, state: Any, target: Any) -> Call:
    """`async score(state, target)`: a `Score`, unscored without a number; its metadata has components and status."""
    score = _inspect_scoring().Score
    truth = list(target) if len(target) > 1 else target.text
    chat = state.input
    if not isinstance(chat, str):
        chat = [{"role": message.role, "content": message.text} for message in chat]
    output, value = yield reward.sample(chat, state.output.completion, state.metadata, ground_truth=truth)
    metadata = {**reward.details(output, same_keys=False), "status": output.status.value}
    if math.isnan(value):
        return score.unscored(reason=output.status.value, explanation=output.reason, metadata=metadata)
    return score(value=value, explanation=output.reason, metadata=metadata)


def _inspect_scoring() -> Any:
    return require("inspect_ai.scorer", package="inspect-ai", purpose="a scorer for Inspect")


def make_scorer(settings: ExportSettings) -> AsyncExportedReward:
    """The exported reward, registered under its own name, with the mean and its standard error as metrics."""

    def factory() -> AsyncExportedReward:
        return AsyncExportedReward(settings)

    scoring = _inspect_scoring()
    register = scoring.scorer(metrics=[scoring.mean(), scoring.stderr()], name=settings.name)
    exported: AsyncExportedReward = register(factory)()
    return exported


def verify_call(reward: ExportedReward, body: Any) -> Call:
    """`async verify(body)` of a resource server of NeMo Gym: the body with `reward` and `reward_components`.

    A body holds the prompt in `responses_create_params`, the answer in `response`, and the row's other columns.
    """
    row = dict(body.model_dump()) if hasattr(body, "model_dump") else dict(body)
    prompt = (row.get("responses_create_params") or {}).get("input", "")
    if not isinstance(prompt, str):
        prompt = [dict(message) for message in prompt]
    columns = {name: value for name, value in row.items() if name not in ("responses_create_params", "response")}
    output, value = yield reward.sample(prompt, _answer_text(row.get("response") or {}), columns)
    return {**row, "reward": value, "reward_components": reward.details(output, same_keys=False)}


def _answer_text(response: Mapping[str, Any]) -> str:
    """The text of every message of a response, as the Responses API has it."""
    messages = [each for each in response.get("output") or [] if each.get("type") == "message"]
    return "".join(str(part.get("text", "")) for each in messages for part in each.get("content") or [])


class SkyRLExport(ExportedReward):
    """Makes environments of one turn that score with the reward; their metrics are its components and status."""

    def __call__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> Any:
        """The environment of one row."""
        text_env: Any = require("skyrl_gym.envs.base_text_env", package="skyrl-gym", purpose="an environment for SkyRL")
        score, row = super().__call__, dict(extras or {})

        class Environment(text_env.BaseTextEnv):  # type: ignore[misc]  # SkyRL's base, known only where it is installed
            prompt: Any = ""
            metrics: Mapping[str, float] = {}

            def init(self, prompt: Any) -> tuple[Any, dict[str, Any]]:
                self.prompt = prompt
                return prompt, {}

            def step(self, action: str) -> Any:
                reward, self.metrics = score(self.prompt, action, row)
                return text_env.BaseTextEnvStepOutput(observations=[], reward=reward, done=True, metadata={})

            def get_metrics(self) -> Mapping[str, float]:
                return self.metrics

        return Environment()


def step_call(reward: ExportedReward, prompt: Any, action: str, row: Mapping[str, Any]) -> Call:
    """The reward of an action, and its metrics."""
    spec = row.get("reward_spec") or row.get("reward_model") or {}
    columns = {name: value for name, value in row.items() if name not in ("reward_spec", "reward_model")}
    output, value = yield reward.sample(prompt, action, columns, ground_truth=spec.get("ground_truth"))
    return value, reward.details(output, same_keys=False)


def task_call(reward: ExportedReward, task: Any, trace: Any) -> Call:
    """`async r(task, trace)` of verifiers v1: the reward; components and status are metrics of the trace."""
    row = task.model_dump() if hasattr(task, "model_dump") else dict(vars(task))
    output, value = yield reward.sample(_verifiers_prompt(row.get("prompt")), trace.last_reply, row)
    details = reward.details(output, same_keys=False)
    trace.record_metrics({f"{reward.__name__}/{name}": each for name, each in details.items()})
    return value


def rubric_call(
    reward: ExportedReward,
    prompt: Any,
    completion: Any,
    answer: Any = None,
    state: Any = None,
    info: Any = None,
    task: Any = None,
) -> Call:
    """A function of a `Rubric` of verifiers 0.1: the reward; components and status are put into the state."""
    row = info if isinstance(info, Mapping) else {}
    output, value = yield reward.sample(_verifiers_prompt(prompt), completion, row, ground_truth=answer, task=task)
    if isinstance(state, dict):
        state.setdefault("plaudit", {})[reward.__name__] = output.to_dict()
    return value


def _verifiers_prompt(prompt: Any) -> Any:
    if prompt is None or isinstance(prompt, str):
        return prompt or ""
    return [each.model_dump(exclude_none=True) if hasattr(each, "model_dump") else dict(each) for each in prompt]


EXPORTS = (
    Export("inspect", inspect_call, (OnUnscored.NAN, OnUnscored.RAISE), make_scorer),
    Export("nemo_gym", verify_call, build=AsyncExportedReward),
    Export("skyrl", step_call, build=SkyRLExport),
    Export("verifiers", task_call, (OnUnscored.RAISE, OnUnscored.MEAN), AsyncExportedReward),
    Export("verifiers", rubric_call, MEAN, AsyncExportedReward, form="legacy"),
)
