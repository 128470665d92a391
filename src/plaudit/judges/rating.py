"""Rate one response by the criteria of a rubric, in one call or by the votes of several."""

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from plaudit.contract.output import RewardOutput, Status
from plaudit.errors import InvalidSettings
from plaudit.judges.chat_endpoint import CallOutcome, ChatConnection, ChatEndpoint, ask
from plaudit.judges.prompt import Exchange, FencedQuestion
from plaudit.judges.rubric import UNNAMED, Criterion, Example, Rubric
from plaudit.judges.texts import Fence, SampleTexts, make_nonce
from plaudit.settings import Count, Share

MAX_REASON = 500
VOTING_TEMPERATURE = 0.7


@dataclass(frozen=True, eq=False)
class Votes:
    """Settings of a judge: how often it is asked about a sample, and how far apart its votes may lie.

    More than half of the votes must succeed. The median counts; of yes and no, the majority.
    """

    _: KW_ONLY
    votes: Count = 1
    """The number of times that each question is asked; the median counts."""
    max_spread: Share = 0.5
    """The largest distance of two votes, as a share of the scale; beyond it the sample is unparsed."""

    def request_fields(self, endpoint: ChatEndpoint) -> dict[str, Any]:
        """The request fields with which votes may differ; an error if they could not differ."""
        if self.votes == 1:
            return {}
        if endpoint.sampling.get("temperature", VOTING_TEMPERATURE) == 0:
            raise InvalidSettings(f"{self.votes} votes at temperature 0 are one vote; raise sampling.temperature")
        return {} if "temperature" in endpoint.sampling else {"temperature": VOTING_TEMPERATURE}

    def settle(self, criterion: Criterion, shares: Sequence[float]) -> RewardOutput:
        """One output for a criterion, of the votes on it; unparsed where they contradict each other."""
        yes_no = isinstance(criterion.scale, str)
        shown = ", ".join(f"{share:.2f}".rstrip("0").rstrip(".") for share in shares)
        middle = statistics.median(shares)
        if (yes_no and middle == 0.5) or (not yes_no and max(shares) - min(shares) > self.max_spread):
            reason = f"{len(shares)} votes on {criterion.name} disagree: {shown}"
            return RewardOutput.unscored(Status.UNPARSED, reason, metadata={"votes": list(shares)})
        return RewardOutput(middle, metadata={"votes": list(shares)} if len(shares) > 1 else {})


@dataclass(frozen=True, slots=True)
class Rating:
    """An output for each criterion of a rubric, the judge's reasoning, and the calls it took."""

    outputs: tuple[RewardOutput, ...]
    reasoning: str
    outcomes: tuple[CallOutcome, ...]
    changes: dict[str, int]


async def rate(
    connection: ChatConnection, endpoint: ChatEndpoint, texts: SampleTexts, rubric: Rubric, votes: Votes
) -> Rating:
    """The rating of a response; if the judge fails, every criterion has the reason."""
    questions = [_question(endpoint, texts, rubric, votes, number) for number in range(votes.votes)]
    outcomes = tuple(await asyncio.gather(*(ask(connection, question) for question, _ in questions)))
    changes = questions[0][1].changes
    verdicts = [outcome.verdict for outcome in outcomes if outcome.verdict is not None]
    if 2 * len(verdicts) <= votes.votes:
        failed = next(outcome for outcome in outcomes if outcome.verdict is None)
        of = f" (and {len(outcomes) - len(verdicts) - 1} more of {votes.votes} votes)" if votes.votes > 1 else ""
        output = RewardOutput.unscored(failed.status, f"{failed.reason}{of}")
        return Rating((output,) * len(rubric.criteria), "", outcomes, changes)
    outputs = tuple(
        votes.settle(criterion, [criterion.share(verdict.values[field.name]) for verdict in verdicts])
        for criterion, field in zip(rubric.criteria, rubric.fields, strict=True)
    )
    return Rating(outputs, verdicts[0].reasoning[:MAX_REASON], outcomes, changes)


def describe_criteria(rubric: Rubric) -> str:
    """The criteria in words, with their scales."""
    if [each.name for each in rubric.criteria] == [UNNAMED] and not rubric.criteria[0].description:
        return f"Judge how well the response answers the prompt, {_scale(rubric.criteria[0])}."
    lines = [f"- {each.name} ({_scale(each)}){_colon(each.description)}" for each in rubric.criteria]
    return "\n".join(["Judge by nothing but this:" if len(lines) == 1 else "Judge each of these by itself:", *lines])


def _question(
    endpoint: ChatEndpoint, texts: SampleTexts, rubric: Rubric, votes: Votes, number: int
) -> tuple[FencedQuestion, Fence]:
    code = make_nonce(texts.all, {"vote": number, "criteria": [criterion.name for criterion in rubric.criteria]})
    fence = Fence(code)
    example_code = make_nonce([example.response for example in rubric.examples], {"asked": "examples"})
    examples = tuple(
        Exchange(
            _example_material(Fence(example_code), example),
            rubric.example_values(example),
            example.reasoning,
            example_code,
        )
        for example in rubric.examples
    )
    question = FencedQuestion(
        _task(rubric, with_reference=texts.reference is not None),
        _material(fence, texts.prompt, texts.reference, texts.response),
        rubric.fields,
        code,
        examples,
        votes.request_fields(endpoint),
    )
    return question, fence


def _task(rubric: Rubric, *, with_reference: bool) -> str:
    parts = ["You judge a response to a prompt. Be strict: credit what is there, not what is promised."]
    if rubric.instructions:
        parts.append(rubric.instructions.strip())
    parts.append(describe_criteria(rubric))
    if with_reference:
        parts.append("The reference is right. A response that contradicts it, or does not get as far, is not right.")
    return "\n\n".join(parts)


def _material(fence: Fence, prompt: str, reference: str | None, response: str) -> str:
    parts = [fence.enclose("prompt", prompt)]
    if reference is not None:
        parts.append(fence.enclose("reference", reference))
    return "\n\n".join([*parts, fence.enclose("response", response)])


def _example_material(fence: Fence, example: Example) -> str:
    return _material(fence, example.prompt, example.reference or None, example.response)


def _scale(criterion: Criterion) -> str:
    if isinstance(criterion.scale, str):
        return "yes or no"
    low, high = criterion.scale
    return f"from {low:g}, the lowest, to {high:g}, the highest"


def _colon(description: str) -> str:
    return f": {description.strip()}" if description else ""
