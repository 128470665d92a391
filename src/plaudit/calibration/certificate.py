"""Certificates of judges: what a calibration measured, bound to the rubric, the model and the prompt.

A certificate is valid for a judge if it was made for the same rubric, model and prompt, was not changed afterwards, and
every finding in it was accepted.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from plaudit.calibration.transcript import DivertedEndpoint, digest_question
from plaudit.contract.contents import rewards_within
from plaudit.contract.event_loop import run_awaitable
from plaudit.contract.function import RewardFunction
from plaudit.contract.output import Status
from plaudit.endpoint.channel import CallFailed, CallResult
from plaudit.errors import InvalidSettings
from plaudit.judges.chat_endpoint import ChatConnection, ChatEndpoint
from plaudit.judges.llm_judge import RubricJudge
from plaudit.judges.prompt import ChatReply, Question
from plaudit.judges.rubric import Rubric
from plaudit.trajectory import Trajectory
from plaudit.version import __version__

HOW = "`plaudit judge calibrate RUBRIC ROLLOUTS --labels FILE -o FILE` writes one"
_SAMPLES = [
    Trajectory("A prompt", f"{number} response", ground_truth=truth, group=str(truth))
    for truth in (None, "A reference")
    for number in ("First", "Second")
]
"""The samples whose questions represent the prompt of a judge in a certificate."""


@dataclass(frozen=True, slots=True)
class JudgeIdentity:
    """The rubric and the prompt of a judge as hashes, and the name of its model."""

    rubric: str
    model: str
    prompt: str


def identify(judge: RubricJudge) -> JudgeIdentity:
    """The values that a certificate is bound to; the prompt is everything that the judge sends about some fixed
    samples.
    """
    settings = {
        each.name: getattr(judge, each.name)
        for each in fields(judge)
        if each.name not in ("endpoint", "rubric", "reproducible")
    }
    questions: set[str] = set()
    captured = DivertedEndpoint.of(judge.chat_endpoint, lambda made: _CapturingConnection(made, questions))
    run_awaitable(_ask_about_samples(replace(judge, endpoint=captured)))
    rubric = asdict(judge.rubric) if isinstance(judge.rubric, Rubric) else None
    return JudgeIdentity(_hash(rubric), judge.chat_endpoint.model, _hash([settings, sorted(questions)]))


def write_certificate(path: Path, judge: RubricJudge, measured: Mapping[str, Any], accepted: Sequence[str]) -> None:
    """Write what a calibration measured; `accepted` are the kinds of findings that training may go on with."""
    content = {
        "plaudit": __version__,
        "judge": {"name": judge.name, **asdict(identify(judge))},
        "accepted": sorted(accepted),
        **measured,
    }
    path.write_bytes(msgspec.json.format(msgspec.json.encode({**content, "digest": _hash(content)}), indent=1) + b"\n")


def read_certificate(path: Path) -> dict[str, Any]:
    """The content of a certificate; raises InvalidSettings if it is none, or was changed."""
    try:
        content: dict[str, Any] = msgspec.json.decode(path.read_bytes())
        unchanged = content.pop("digest") == _hash(content) and {"judge", "findings", "accepted"} <= content.keys()
    except FileNotFoundError:
        raise InvalidSettings(f"no certificate {path}; {HOW}") from None
    except (msgspec.DecodeError, KeyError, AttributeError, UnicodeDecodeError):
        raise InvalidSettings(f"{path} is not the certificate of a judge; {HOW}") from None
    if not unchanged:
        raise InvalidSettings(f"{path} was changed after it was written; {HOW}")
    return content


def require_certificates(reward: RewardFunction, paths: Iterable[str | Path]) -> None:
    """Raise InvalidSettings unless every judge within the reward has a valid certificate; nothing if none is named."""
    certificates = {Path(path): read_certificate(Path(path)) for path in paths}
    if not certificates:
        return
    judges = [each for each in rewards_within(reward) if isinstance(each, RubricJudge)]
    if not judges:
        raise InvalidSettings(
            f"a judge certificate is required, but {reward.name} has no judge of plaudit.judges in it"
        )
    for judge in judges:
        identity = asdict(identify(judge))
        reasons = [_why_not(path, content, identity) for path, content in certificates.items()]
        if all(reasons):
            raise InvalidSettings(f"the judge {judge.name} ({identity['model']}) has no valid certificate: "
                                  f"{'; '.join(filter(None, reasons))}. {HOW}")  # fmt: skip


def _why_not(path: Path, content: Mapping[str, Any], identity: Mapping[str, str]) -> str | None:
    """The reason why a certificate is not valid for a judge; None if it is valid."""
    certified = content["judge"]
    for part, value in identity.items():
        if certified.get(part) != value:
            return f"{path} is for another {part}" + (f" ({certified.get(part)})" if part == "model" else "")
    if open_findings := sorted(set(content["findings"]) - set(content["accepted"])):
        return f"{path} has findings that were not accepted (--accept-finding): {', '.join(open_findings)}"
    return None


def _hash(plain: Any) -> str:
    return hashlib.sha256(msgspec.json.encode(plain, order="deterministic")).hexdigest()


async def _ask_about_samples(judge: RubricJudge) -> None:
    for truth in (None, "A reference"):
        await judge.compute_rewards([each for each in _SAMPLES if each.ground_truth == truth])


class _CapturingConnection(ChatConnection):
    """Sends no request, and keeps the digests of all questions."""

    def __init__(self, endpoint: ChatEndpoint, questions: set[str]) -> None:
        super().__init__(endpoint, None)
        self._questions = questions

    async def ask(self, question: Question) -> CallResult[ChatReply]:
        self._questions.add(digest_question(self._endpoint, question))
        raise CallFailed(Status.SKIPPED, "nobody was asked", 0, 0.0)
