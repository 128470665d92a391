"""Compare the responses of a group: two by two in both orders, or all of them in one call.

Models prefer places: the first, or the last. A pair is therefore asked about twice, and where the two verdicts name
different winners the pair decides nothing; in a ranking the order is shuffled, differently for each vote. A response
that shows a reader nothing loses without a question, and equal responses are equal.
"""

import asyncio
import random
import statistics
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plaudit.contract.output import RewardOutput, Status
from plaudit.judges.chat_endpoint import ChatConnection, ChatEndpoint
from plaudit.judges.fence import Fence, code_for
from plaudit.judges.judgement import Judgement, put_question, report_calls
from plaudit.judges.question import FencedQuestion
from plaudit.judges.rating import MAX_REASON, Votes, describe_criteria
from plaudit.judges.rubric import Rubric
from plaudit.judges.sample_texts import Reading, Refused, SampleTexts
from plaudit.judges.verdict_fields import ChoiceField, NumberField
from plaudit.trajectory import Trajectory

__all__ = ["Comparison"]

FIRST, SECOND, TIE = "first", "second", "tie"
BETTER = ChoiceField("better", (FIRST, SECOND, TIE))
LABELS = string.ascii_uppercase


@dataclass(frozen=True, slots=True)
class _Pair:
    """What came of comparing two members: the share of the first, None where nothing was decided."""

    members: tuple[int, int]
    share: float | None
    judgements: tuple[Judgement, ...] = ()

    @property
    def failure(self) -> Judgement | None:
        return next((each for each in self.judgements if each.verdict is None), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a judge compares the members of a group."""

    name: str
    endpoint: ChatEndpoint
    rubric: Rubric
    reading: Reading
    votes: Votes
    opponents: int | None = None

    async def compare_pairs(self, connection: ChatConnection, group: Sequence[Trajectory]) -> list[RewardOutput]:
        """The share of comparisons that each member wins; a tie is half a win."""
        texts, outputs = self._read(group)
        if isinstance(texts, str):
            return [RewardOutput.unscored(Status.SKIPPED, f"{self.name}: {texts}")] * len(group)
        pairs = await asyncio.gather(*(self._compare(connection, texts, pair) for pair in self._pairs(sorted(texts))))
        for place in texts:
            outputs[place] = self._settle_pairs(place, [pair for pair in pairs if place in pair.members])
        return self._report(outputs, texts, [judgement for pair in pairs for judgement in pair.judgements])

    async def rank(self, connection: ChatConnection, group: Sequence[Trajectory]) -> list[RewardOutput]:
        """The share of the others that each member is ranked above; equals share their places."""
        texts, outputs = self._read(group)
        if isinstance(texts, str):
            return [RewardOutput.unscored(Status.SKIPPED, f"{self.name}: {texts}")] * len(group)
        asked_of: dict[str, int] = {}  # equal responses are asked about once
        for place in sorted(texts):
            if not texts[place].is_empty:
                asked_of.setdefault(texts[place].response, place)
        asked = list(asked_of.values())
        if len(asked) > len(LABELS):
            reason = (
                f"{self.name}: {len(asked)} responses are too many for one call; use mode='pairwise' with opponents"
            )
            return [RewardOutput.unscored(Status.SKIPPED, reason)] * len(group)
        numbers = range(self.votes.count if len(asked) > 1 else 0)
        orders = [self._shuffle(texts, asked, number) for number in numbers]
        judgements = await asyncio.gather(
            *(put_question(connection, self._ranking(texts, order, code)) for order, code in orders)
        )
        ranks = [
            {place: judgement.verdict.values[label] for label, place in zip(LABELS, order, strict=False)}
            for (order, _), judgement in zip(orders, judgements, strict=True)
            if judgement.verdict is not None
        ]
        failed = next((judgement for judgement in judgements if judgement.verdict is None), None)
        reasoning = next((judgement.verdict.reasoning for judgement in judgements if judgement.verdict), "")
        for place in texts:
            if failed is not None and 2 * len(ranks) <= len(orders):
                outputs[place] = RewardOutput.unscored(failed.status, f"{self.name}: {failed.reason}")
            else:
                outputs[place] = self._settle_ranks(place, texts, asked_of, ranks or [{}], reasoning)
        return self._report(outputs, texts, judgements)

    def _read(self, group: Sequence[Trajectory]) -> tuple[dict[int, SampleTexts] | str, list[RewardOutput]]:
        """The texts of the members by their places, with outputs for those who cannot take part; or why none can."""
        texts: dict[int, SampleTexts] = {}
        outputs = [RewardOutput.unscored(Status.SKIPPED, "")] * len(group)
        for place, trajectory in enumerate(group):
            try:
                texts[place] = self.reading.read(trajectory)
            except Refused as refused:
                outputs[place] = RewardOutput.unscored(Status.SKIPPED, f"{self.name}: {refused}")
        if len({(each.prompt, each.reference) for each in texts.values()}) > 1:
            return "the samples of this group have different prompts or references, and cannot be compared", outputs
        if len(texts) == 1:
            return "there is nothing to compare this response with: its group has no other that can be shown", outputs
        return texts, outputs

    def _pairs(self, places: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Every pair once; with `opponents`, each member and as many that follow it in a ring as make that number."""
        count = len(places)
        most = count - 1 if self.opponents is None else min(self.opponents, count - 1)
        steps = range(1, count // 2 + 1) if most == count - 1 else range(1, (most + 1) // 2 + 1)
        seen: set[frozenset[int]] = set()
        for step in steps:
            for index, place in enumerate(places):
                other = places[(index + step) % count]
                if frozenset((place, other)) not in seen:
                    seen.add(frozenset((place, other)))
                    yield place, other

    async def _compare(self, connection: ChatConnection, texts: dict[int, SampleTexts], pair: tuple[int, int]) -> _Pair:
        one, two = texts[pair[0]], texts[pair[1]]
        if one.response == two.response or (one.is_empty and two.is_empty):
            return _Pair(pair, 0.5)
        if one.is_empty or two.is_empty:
            return _Pair(pair, float(two.is_empty))
        judgements = tuple(
            await asyncio.gather(
                put_question(connection, self._comparison(one, two)),
                put_question(connection, self._comparison(two, one)),
            )
        )
        said = [judgement.verdict.values[BETTER.name] for judgement in judgements if judgement.verdict is not None]
        if len(said) < 2 or said in ([FIRST, FIRST], [SECOND, SECOND]):
            return _Pair(pair, None, judgements)
        shares = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
        return _Pair(pair, (shares[said[0]] + 1.0 - shares[said[1]]) / 2, judgements)

    def _settle_pairs(self, place: int, pairs: Sequence[_Pair]) -> RewardOutput:
        shares = [
            pair.share if pair.members[0] == place else 1.0 - pair.share for pair in pairs if pair.share is not None
        ]
        failure = next((pair.failure for pair in pairs if pair.failure is not None), None)
        contradictions = sum(pair.share is None and pair.failure is None for pair in pairs)
        counts = Counter("wins" if share > 0.5 else "losses" if share < 0.5 else "ties" for share in shares)
        metadata = {"wins": counts["wins"], "ties": counts["ties"], "losses": counts["losses"],
                    "contradictions": contradictions}  # fmt: skip
        told = ", ".join(f"{count} {what}" for what, count in metadata.items() if count)
        if 2 * len(shares) < len(pairs) or not shares:
            if failure is not None:
                return RewardOutput.unscored(failure.status, f"{self.name}: {failure.reason}", metadata=metadata)
            reason = (
                f"the judge contradicts itself in {contradictions} of {len(pairs)} comparisons when the two responses "
                "change places"
            )
            return RewardOutput.unscored(Status.UNPARSED, f"{self.name}: {reason}", metadata=metadata)
        return RewardOutput(statistics.fmean(shares), reason=f"of {len(pairs)} comparisons: {told}", metadata=metadata)

    def _settle_ranks(
        self,
        place: int,
        texts: dict[int, SampleTexts],
        asked_of: Mapping[str, int],
        votes: Sequence[dict[int, float]],
        reasoning: str,
    ) -> RewardOutput:
        last = float(len(texts) + 1)
        shares = []
        for ranks in votes:
            full = {
                each: last if shown.is_empty else ranks.get(asked_of[shown.response], 1.0)
                for each, shown in texts.items()
            }
            others = [rank for each, rank in full.items() if each != place]
            above = sum(full[place] < rank for rank in others) + 0.5 * sum(full[place] == rank for rank in others)
            shares.append(above / len(others))
        metadata = {"votes": shares} if len(shares) > 1 else {}
        if max(shares) - min(shares) > self.votes.max_spread:
            shown = ", ".join(f"{share:.2f}" for share in shares)
            reason = f"{self.name}: {len(shares)} rankings disagree about this response: {shown} of the others below it"
            return RewardOutput.unscored(Status.UNPARSED, reason, metadata=metadata)
        return RewardOutput(statistics.fmean(shares), reason=reasoning[:MAX_REASON], metadata=metadata)

    def _report(
        self, outputs: list[RewardOutput], texts: dict[int, SampleTexts], judgements: Sequence[Judgement]
    ) -> list[RewardOutput]:
        """The outputs; the first member tells what the calls of the whole group took."""
        if texts and judgements:
            outputs[min(texts)].metadata.update(report_calls(judgements), model=self.endpoint.model)
        return outputs

    def _comparison(self, first: SampleTexts, second: SampleTexts) -> FencedQuestion:
        code = code_for([*first.all, *second.all], {"asked": "better"})
        fence = Fence(code)
        material = [
            *_shared(fence, first),
            fence.enclose(FIRST, first.response),
            fence.enclose(SECOND, second.response),
        ]
        task = (
            "You compare two responses to one prompt, called first and second. Their order says nothing about them. "
            f"Say which is better, or {TIE} where neither is."
        )
        return FencedQuestion(self._task(task, first), "\n\n".join(material), (BETTER,), code)

    def _shuffle(self, texts: dict[int, SampleTexts], asked: Sequence[int], number: int) -> tuple[list[int], str]:
        """An order of the members that follows from their texts, and the code of the call."""
        every = [text for place in asked for text in texts[place].all]
        code = code_for(every, {"asked": "ranks", "vote": number})
        order = list(asked)
        random.Random(code).shuffle(order)
        return order, code

    def _ranking(self, texts: dict[int, SampleTexts], order: Sequence[int], code: str) -> FencedQuestion:
        fence, labels = Fence(code), LABELS[: len(order)]
        responses = [fence.enclose(label, texts[place].response) for label, place in zip(labels, order, strict=True)]
        task = (
            f"You rank {len(order)} responses to one prompt, called {', '.join(labels)}. Their order says nothing "
            "about them. Give each its rank, 1 for the best; responses that are equally good share a rank."
        )
        fields = tuple(NumberField(label, 1, len(order), whole=True) for label in labels)
        material = "\n\n".join([*_shared(fence, texts[order[0]]), *responses])
        fields_of_votes = self.votes.request_fields(self.endpoint)
        return FencedQuestion(self._task(task, texts[order[0]]), material, fields, code, (), fields_of_votes)

    def _task(self, task: str, texts: SampleTexts) -> str:
        parts = [task, self.rubric.instructions.strip(), describe_criteria(self.rubric)]
        if texts.reference is not None:
            parts.append("The reference is right. A response that contradicts it is worse than one that does not.")
        return "\n\n".join(filter(None, parts))


def _shared(fence: Fence, texts: SampleTexts) -> list[str]:
    """What all members of a group answer to."""
    parts = [fence.enclose("prompt", texts.prompt)]
    return parts if texts.reference is None else [*parts, fence.enclose("reference", texts.reference)]
