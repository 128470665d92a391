"""Record the answers of a judge, and replay them without an endpoint.

An answer is found by the digest of its whole question (model, messages, request fields), so a changed rubric, prompt,
model or sample finds none. The file is JSON lines and grows while the judge is asked: an interrupted calibration that
is started again with the same file asks only what is missing.
"""

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import msgspec

from plaudit.contract.output import Status
from plaudit.endpoint.channel import CallFailed, CallResult
from plaudit.endpoint.transient import HttpRefusal
from plaudit.errors import InvalidSettings
from plaudit.judges.chat_endpoint import ChatConnection, ChatEndpoint
from plaudit.judges.prompt import ChatReply, Question


class Transcript:
    """The recorded answers of a file by the digests of their questions; `replay` never calls an endpoint."""

    def __init__(self, path: Path, *, replay: bool = False) -> None:
        self.path, self.replay = path, replay
        self.answers: dict[str, dict[str, Any]] = {}
        self.digests: set[str] = set()
        if path.exists():
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]  # an interrupted calibration may leave half a line
            if len(whole) < len(content) and not replay:
                path.write_bytes(whole)
            for number, line in enumerate(whole.splitlines(), 1):
                try:
                    answer = msgspec.json.decode(line)
                    self.answers[answer["question"]] = answer
                except (msgspec.DecodeError, KeyError, TypeError):
                    raise InvalidSettings(f"{path}:{number} is no recorded answer; remove the line") from None
        elif replay:
            raise InvalidSettings(f"no transcript {path}; --record {path} writes one during a calibration")

    def find(self, digest: str) -> dict[str, Any] | None:
        """The recorded answer to a question; failures are requested again unless this is a replay."""
        self.digests.add(digest)
        answer = self.answers.get(digest)
        if answer is None and self.replay:
            raise InvalidSettings(f"{self.path} has no answer to this question")
        return None if answer is not None and "failed" in answer and not self.replay else answer

    def check_complete(self) -> None:
        """Raise InvalidSettings if an answer was missing: calls that fail only leave their samples unscored."""
        if missing := len(self.digests - self.answers.keys()):
            raise InvalidSettings(
                f"{self.path} has no answer to {missing} of {len(self.digests)} questions of this calibration: rubric, "
                "model, prompt, samples or options differ from those that were recorded"
            )

    def add(self, answer: dict[str, Any]) -> None:
        """Keep an answer, in the file too."""
        self.answers[answer["question"]] = answer
        with self.path.open("ab") as file:
            file.write(msgspec.json.encode(answer) + b"\n")

    def digest(self) -> str:
        """A hash of all answers that were used, in any order."""
        used = sorted(msgspec.json.encode(self.answers[each], order="deterministic") for each in self.digests)
        return hashlib.sha256(b"\n".join(used)).hexdigest()


class DivertedEndpoint(ChatEndpoint):
    """An endpoint whose questions go through a connection of our making."""

    @classmethod
    def of(
        cls, endpoint: ChatEndpoint, connection: Callable[["DivertedEndpoint"], ChatConnection]
    ) -> "DivertedEndpoint":
        """The endpoint with the same settings; `connection` makes its connections."""
        made = cls(**{each.name: getattr(endpoint, each.name) for each in fields(ChatEndpoint) if each.init})
        object.__setattr__(made, "_connection", connection)
        return made

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[ChatConnection]:
        """A connection; it is closed at the end."""
        connection: ChatConnection = self._connection(self)  # type: ignore[attr-defined]  # set in `of`
        try:
            yield connection
        finally:
            await connection.close()


def record_endpoint(endpoint: ChatEndpoint, transcript: Transcript) -> DivertedEndpoint:
    """The endpoint, with answers that are recorded in a transcript, or taken from it; a replay needs no key."""
    return DivertedEndpoint.of(
        endpoint, lambda made: _RecordedConnection(made, None if transcript.replay else made.read_key(), transcript)
    )


class _RecordedConnection(ChatConnection):
    def __init__(self, endpoint: ChatEndpoint, key: str | None, transcript: Transcript) -> None:
        super().__init__(endpoint, key)
        self._transcript = transcript

    async def ask(self, question: Question) -> CallResult[ChatReply]:
        """The recorded answer, or else the endpoint's."""
        digest = digest_question(self._endpoint, question)
        recorded = self._transcript.find(digest)
        if recorded is not None:
            return _answer(recorded)
        try:
            sent = await super().ask(question)
        except CallFailed as error:
            failed = {"status": error.status.value, "reason": str(error)}
            self._transcript.add({"question": digest, "failed": failed})
            raise
        except HttpRefusal as error:
            refused = {"refused": error.status, "reason": str(error)}
            self._transcript.add({"question": digest, "failed": refused})
            raise
        self._transcript.add({"question": digest, "reply": asdict(sent.value), "attempts": sent.attempts})
        return sent


def _answer(recorded: Mapping[str, Any]) -> CallResult[ChatReply]:
    failed = recorded.get("failed")
    if failed is None:
        return CallResult(ChatReply(**recorded["reply"]), recorded["attempts"], 0.0)
    if "refused" in failed:
        raise HttpRefusal(failed["refused"], failed["reason"], {})
    raise CallFailed(Status(failed["status"]), failed["reason"], 1, 0.0)


def digest_question(endpoint: ChatEndpoint, question: Question) -> str:
    """The hash of everything that a request about a question holds."""
    whole = {
        "model": endpoint.model,
        "messages": question.messages(system=endpoint.system),
        "schema": question.schema,
        **endpoint.request_fields,
        **question.request_fields,
    }
    return hashlib.sha256(msgspec.json.encode(whole, order="deterministic")).hexdigest()
