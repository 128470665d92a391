"""Judges with known faults behind a real HTTP server, and rollouts with labels for them.

A judge rates a response by whether it has the right answer, with noise that follows from the texts, and adds what its
faults add. It is no model: it reads the fenced texts of a request as they are.
"""

import hashlib
import json
import random
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from plaudit import Trajectory
from plaudit.endpoint.channel import CallResult
from plaudit.judges import ChatEndpoint
from plaudit.judges.chat_endpoint import ChatConnection
from plaudit.judges.prompt import ChatReply, Question
from tests.judges.servers import code_of

OWN, OTHER = "judge-model", "other-model"
RUBRIC = {"criteria": [{"name": "right", "description": "Is the answer right?"}]}
COMPOUND = {"criteria": [{"name": "parts", "description": "States the price and explains the delay."}]}
_FENCE = re.compile(r"<(\w+)-\w{8}>\n(.*?)\n</\1-\w{8}>", re.DOTALL)
_WORDS = tuple(re.findall(r"\w+", "we add both parts carry what is left over then look at it from the other side"))


@dataclass(frozen=True)
class ScriptedJudge:
    """A judge with faults; each fault is how much of the scale it adds."""

    seed: int = 0
    noise: float = 0.1
    position: float = 0.0
    """Added to the first of two responses; negative: to the second."""
    verbosity: float = 0.0
    """Added for each hundred words."""
    format: float = 0.0
    own: float = 0.0
    contradicts: float = 0.0
    """The share of reasons that say the opposite of the verdict."""
    keywords: bool = False
    """Accepts whatever has a word of content of the criterion."""
    whole: bool = False
    """Rates in whole numbers."""

    def __call__(self, body: dict[str, Any]) -> str:
        texts = {label: _unquote(block) for label, block in _FENCE.findall(body["messages"][-1]["content"])}
        names = body["response_format"]["json_schema"]["schema"]["required"][2:]
        verdict: dict[str, Any] = {"code": code_of(body), "reasoning": ""}
        if names == ["better"]:
            difference = self._quality(texts, "first", body) - self._quality(texts, "second", body) + self.position
            verdict["better"] = "first" if difference > 0 else "second" if difference < 0 else "tie"
            return json.dumps(verdict)
        quality = self._quality(texts, "response", body)
        accepted = quality >= 0.5
        honest = self._draw("reason", texts["response"]).random() >= self.contradicts
        verdict["reasoning"] = f"The answer is {'right' if accepted == honest else 'wrong'}."
        for name in names:
            grade = 1 + 9 * min(1.0, max(0.0, quality))
            verdict[name] = ("yes" if accepted else "no") if name == "met" else round(grade, 0 if self.whole else 2)
        return json.dumps(verdict)

    def _quality(self, texts: dict[str, str], label: str, body: dict[str, Any]) -> float:
        response = texts[label]
        if self.keywords:
            description = re.search(r": (.*)", body["messages"][0]["content"].partition("Judge by nothing but this")[2])
            words = set(re.findall(r"\w{5,}", description[1].lower() if description else ""))
            good = any(word in response.lower() for word in words)
        else:
            good = re.search(r"\b42\b", response) is not None
        value = (0.75 if good else 0.25) + self.noise * self._draw(texts["prompt"], response).gauss(0, 1)
        value += self.verbosity * len(response.split()) / 100
        value += self.format * (re.search(r"^(?:- |## )|\*\*", response, re.MULTILINE) is not None)
        return value + self.own * ("Certainly!" in response)

    def _draw(self, *texts: str) -> random.Random:
        return random.Random(hashlib.sha256("\0".join((str(self.seed), *texts)).encode()).digest())


class LocalEndpoint(ChatEndpoint):
    """A scripted judge in this process: the same questions and replies as over HTTP, without the time that takes."""

    @classmethod
    def of(cls, judge: ScriptedJudge) -> "LocalEndpoint":
        made = cls("http://127.0.0.1:1/v1", OWN)
        object.__setattr__(made, "judge", judge)
        return made

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[ChatConnection]:
        yield _LocalConnection(self, None)


class _LocalConnection(ChatConnection):
    async def ask(self, question: Question) -> CallResult[ChatReply]:
        body = {
            "messages": question.messages(system=True),
            "response_format": {"json_schema": {"schema": question.schema}},
        }
        return CallResult(ChatReply(self._endpoint.judge(body), "stop"), 1, 0.0)  # type: ignore[attr-defined]


def labelled_rollouts(seed: int, prompts: int = 24, each: int = 2) -> list[Trajectory]:
    """Responses of two models to some prompts; `human` says whether the answer is right, 3 % of them wrongly."""
    draw = random.Random(seed)
    samples = []
    for prompt in range(prompts):
        for _ in range(each):
            right, own = draw.random() < 0.5, draw.random() < 0.5
            working = " ".join(draw.choice(_WORDS) for _ in range(draw.randint(5, 60)))
            opening = "Certainly! " if own else "Let us see. "
            label = right if draw.random() > 0.03 else not right
            samples.append(
                Trajectory(
                    f"Exercise {prompt}: how much do {prompt + 3} crates weigh?",
                    f"{opening}{working}. The answer is {42 if right else draw.randint(50, 99)}.",
                    columns={"model": OWN if own else OTHER, "human": label},
                )
            )
    return samples


def _unquote(block: str) -> str:
    return "\n".join(line.removeprefix("|").removeprefix(" ") for line in block.splitlines())
