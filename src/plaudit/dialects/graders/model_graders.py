"""Graders that ask a model: a score within a range, or one of several labels.

The client is OpenAI's own, which reads its key and address from the environment; any endpoint that speaks its protocol
and keeps to a JSON schema will do. A refusal or an answer of another shape leaves the sample unscored.
"""

import json
from typing import Any

from plaudit.contract.function import RewardFunction
from plaudit.contract.output import RewardOutput, Status
from plaudit.dialects.graders.templates import fill
from plaudit.errors import InvalidSettings, require
from plaudit.trajectory import Trajectory

__all__ = ["LabelModelGrader", "ScoreModelGrader"]


class _ModelGrader(RewardFunction):
    deterministic = False

    def __init__(self, grader: dict[str, Any]) -> None:
        self.name = str(grader.get("name") or grader["type"])
        self.model: str = grader["model"]
        self.messages: list[dict[str, Any]] = grader["input"]
        self.sampling = {
            name: value for name, value in (grader.get("sampling_params") or {}).items() if value is not None
        }

    async def ask(self, trajectory: Trajectory, answer: dict[str, Any]) -> Any:
        """What the model answers in the given JSON schema; None where it refuses or answers otherwise."""
        openai: Any = require("openai", extra="graders", purpose=f"the grader {self.name}")
        messages = [
            {"role": message["role"].replace("developer", "system"), "content": fill(_text(message), trajectory)}
            for message in self.messages
        ]
        schema = {"type": "object", "properties": answer, "required": list(answer), "additionalProperties": False}
        async with openai.AsyncOpenAI() as client:
            given = await client.chat.completions.create(
                model=self.model,
                messages=messages,
                response_format={
                    "type": "json_schema",
                    "json_schema": {"name": "grade", "strict": True, "schema": schema},
                },
                **self.sampling,
            )
        try:
            return json.loads(given.choices[0].message.content or "")
        except ValueError:
            return None


class ScoreModelGrader(_ModelGrader):
    """A number that a model gives, within `range`."""

    def __init__(self, grader: dict[str, Any]) -> None:
        super().__init__(grader)
        self.low, self.high = map(float, grader.get("range") or (0, 1))

    async def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        given = await self.ask(trajectory, {"steps": {"type": "string"}, "result": {"type": "number"}})
        result = given.get("result") if isinstance(given, dict) else None
        if not isinstance(result, int | float) or not self.low <= result <= self.high:
            reason = f"{self.model} gave {result!r}, not a number from {self.low} to {self.high}"
            return RewardOutput.unscored(Status.UNPARSED, reason)
        return RewardOutput(float(result), reason=str(given.get("steps", ""))[:500])


class LabelModelGrader(_ModelGrader):
    """1 where a model gives a passing label, else 0."""

    def __init__(self, grader: dict[str, Any]) -> None:
        super().__init__(grader)
        self.labels: list[str] = grader["labels"]
        self.passing: list[str] = grader["passing_labels"]
        if not set(self.passing) <= set(self.labels):
            raise InvalidSettings(
                f"passing_labels of {self.name} are not all among its labels {', '.join(self.labels)}"
            )

    async def compute_reward(self, trajectory: Trajectory) -> RewardOutput:
        given = await self.ask(trajectory, {"label": {"type": "string", "enum": self.labels}})
        label = given.get("label") if isinstance(given, dict) else None
        if label not in self.labels:
            return RewardOutput.unscored(Status.UNPARSED, f"{self.model} gave {label!r}, which is no label")
        value = float(label in self.passing)
        return RewardOutput(value, score=value, reason=f"labelled {label}", metadata={"label": label})


def _text(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, dict):
        return str(content["text"])
    return content if isinstance(content, str) else "".join(str(part.get("text", "")) for part in content)
