"""Graders that ask a model: a score within a range, or one of several labels.

The messages are the grader's, with the sample filled into its template without delimiters, as OpenAI does. The
whole answer must be one JSON object. A refusal or an answer of another shape leaves the sample unscored. Address and
key are those of OpenAI's own client: OPENAI_BASE_URL and OPENAI_API_KEY.
"""

import os
from abc import abstractmethod
from typing import Any

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput
from plaudit.dialects.graders.templates import fill
from plaudit.errors import InvalidSettings
from plaudit.judges.chat_endpoint import ChatEndpoint, ask, report_calls
from plaudit.judges.prompt import ChoiceField, NumberField, PlainQuestion, Verdict, VerdictField
from plaudit.trajectory import Trajectory

MAX_REASON = 500
HOME = "https://api.openai.com/v1"


class _ModelGrader(RewardFunction):
    deterministic = False

    def __init__(self, grader: dict[str, Any], value: VerdictField, *, steps: bool) -> None:
        self.name = str(grader.get("name") or grader["type"])
        self.model: str = grader["model"]
        self.input: list[dict[str, Any]] = grader["input"]
        self.sampling: dict[str, Any] = {
            "temperature": None,
            "max_tokens": None,
            **(grader.get("sampling_params") or {}),
        }
        self.value = value
        properties = {**({"steps": {"type": "string"}} if steps else {}), value.name: value.schema}
        self.schema = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    @abstractmethod
    def read(self, verdict: Verdict, metadata: dict[str, Any]) -> RewardOutput:
        """The output of a valid verdict."""

    async def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        messages = [
            {"role": message["role"].replace("developer", "system"), "content": fill(_text(message), trajectory)}
            for message in self.input
        ]
        question = PlainQuestion(messages, (self.value,), self.schema)
        async with self._endpoint().connect() as line:
            outcome = await ask(line, question)
        metadata = report_calls([outcome])
        if outcome.verdict is None:
            return RewardOutput.unscored(outcome.status, f"{self.model}: {outcome.reason}", metadata=metadata)
        return self.read(outcome.verdict, metadata)

    def _endpoint(self) -> ChatEndpoint:
        """The endpoint that the environment variables name now."""
        endpoint = vars(self).get("_known")
        url = os.environ.get("OPENAI_BASE_URL") or HOME
        if not isinstance(endpoint, ChatEndpoint) or endpoint.url != url.rstrip("/"):
            endpoint = ChatEndpoint(url, self.model, sampling=self.sampling, api_key_env="OPENAI_API_KEY")
            self._known = endpoint
        return endpoint

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_known"}


class ScoreModelGrader(_ModelGrader):
    """A number that a model gives, within `range`."""

    def __init__(self, grader: dict[str, Any]) -> None:
        low, high = map(float, grader.get("range") or (0, 1))
        super().__init__(grader, NumberField("result", low, high), steps=True)

    def read(self, verdict: Verdict, metadata: dict[str, Any]) -> RewardOutput:
        return RewardOutput(verdict.values["result"], reason=verdict.reasoning[:MAX_REASON], metadata=metadata)


class LabelModelGrader(_ModelGrader):
    """1 where a model gives a passing label, else 0."""

    def __init__(self, grader: dict[str, Any]) -> None:
        super().__init__(grader, ChoiceField("label", tuple(grader["labels"])), steps=False)
        self.passing: list[str] = grader["passing_labels"]
        if not set(self.passing) <= set(grader["labels"]):
            raise InvalidSettings(
                f"passing_labels of {self.name} are not all among its labels {', '.join(grader['labels'])}"
            )

    def read(self, verdict: Verdict, metadata: dict[str, Any]) -> RewardOutput:
        label = verdict.values["label"]
        value = float(label in self.passing)
        return RewardOutput(value, score=value, reason=f"labelled {label}", metadata={**metadata, "label": label})


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, dict):
        return str(content["text"])
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content)
