"""Compare the responses of a group: two by two in both orders, or all of them in one call.

Models prefer positions: the first, or the last. Each pair is therefore judged in both orders, and a pair whose
two verdicts contradict each other does not count; a ranking shuffles the order for each vote. A response without
visible text loses without a call, and equal responses tie.
"""

import asyncio
import random
import statistics
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from plaudit.contract.output import RewardOutput, Status
from plaudit.judges.chat_endpoint import CallOutcome, ChatConnection, ChatEndpoint, ask, report_calls
from plaudit.judges.prompt import ChoiceField, FencedQuestion, NumberField
from plaudit.judges.rating import MAX_REASON, Votes, describe_criteria
from plaudit.judges.rubric import Rubric
from plaudit.judges.texts import Fence, Refused, SampleTexts, TextLimits, make_nonce
from plaudit.trajectory import Trajectory

FIRST, SECOND, TIE = "first", "second", "tie"
BETTER = ChoiceField("better", (FIRST, SECOND, TIE))
LABELS = string.ascii_uppercase


@dataclass(frozen=True, slots=True)
class _Pair:
    """The result of comparing two members: the share of the first, None if undecided."""

    members: tuple[int, int]
    share: float | None
    outcomes: tuple[CallOutcome, ...] = ()

    @property
    def failure(self) -> CallOutcome | None:
        return next((each for each in self.outcomes if each.verdict is None), None)


@dataclass(frozen=True, slots=True)
class Comparison:
    """The way in which a judge compares the members of a group."""

    name: str
    endpoint: ChatEndpoint
    rubric: Rubric
    limits: TextLimits
    votes: Votes
    opponents: int | None = None

    async def compare_pairs(self, connection: ChatConnection, group: Sequence[Trajectory]) -> list[RewardOutput]:
        """The share of comparisons that each member wins; a tie is half a win."""
        texts, outputs = self._read(group)
        pairs = await asyncio.gather(*(self._compare(connection, texts, pair) for pair in self._pairs(sorted(texts))))
        for index in texts:
            outputs[index] = self._settle_pairs(index, [pair for pair in pairs if index in pair.members])
        return self._report(outputs, texts, [outcome for pair in pairs for outcome in pair.outcomes])

    async def rank(self, connection: ChatConnection, group: Sequence[Trajectory]) -> list[RewardOutput]:
        """The share of the others that each member is ranked above; equals share their ranks."""
        texts, outputs = self._read(group)
        first_with: dict[str, int] = {}  # equal responses are shown once
        for index in sorted(texts):
            if not texts[index].is_empty:
                first_with.setdefault(texts[index].response, index)
        distinct = list(first_with.values())
        if len(distinct) > len(LABELS):
            reason = (
                f"{self.name}: {len(distinct)} responses are too many for one call; use mode='pairwise' with opponents"
            )
            return [RewardOutput.unscored(Status.SKIPPED, reason)] * len(group)
        numbers = range(self.votes.votes if len(distinct) > 1 else 0)
        orders = [self._shuffle(texts, distinct, number) for number in numbers]
        outcomes = await asyncio.gather(*(ask(connection, self._ranking(texts, order, code)) for order, code in orders))
        ranks = [
            {index: outcome.verdict.values[label] for label, index in zip(LABELS, order, strict=False)}
            for (order, _), outcome in zip(orders, outcomes, strict=True)
            if outcome.verdict is not None
        ]
        failed = next((outcome for outcome in outcomes if outcome.verdict is None), None)
        reasoning = next((outcome.verdict.reasoning for outcome in outcomes if outcome.verdict), "")
        for index in texts:
            if failed is not None and 2 * len(ranks) <= len(orders):
                outputs[index] = RewardOutput.unscored(failed.status, f"{self.name}: {failed.reason}")
            else:
                outputs[index] = self._settle_ranks(index, texts, first_with, ranks or [{}], reasoning)
        return self._report(outputs, texts, outcomes)

    def _read(self, group: Sequence[Trajectory]) -> tuple[dict[int, SampleTexts], list[RewardOutput]]:
        """The texts of the members by index, with outputs for those who cannot take part; none if no two can."""
        texts: dict[int, SampleTexts] = {}
        outputs = [RewardOutput.unscored(Status.SKIPPED, "")] * len(group)
        for index, trajectory in enumerate(group):
            try:
                texts[index] = self.limits.read_texts(trajectory)
            except Refused as refused:
                outputs[index] = RewardOutput.unscored(Status.SKIPPED, f"{self.name}: {refused}")
        if len({(each.prompt, each.reference) for each in texts.values()}) > 1:
            problem = "the samples of this group have different prompts or references, and cannot be compared"
        elif len(texts) == 1:
            problem = "there is nothing to compare this response with: its group has no other that can be shown"
        else:
            return texts, outputs
        return {}, [RewardOutput.unscored(Status.SKIPPED, f"{self.name}: {problem}")] * len(group)

    def _pairs(self, indices: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Every pair once; with `opponents`, each member and as many that follow it in a ring as make that number."""
        count = len(indices)
        most = count - 1 if self.opponents is None else min(self.opponents, count - 1)
        steps = range(1, count // 2 + 1) if most == count - 1 else range(1, (most + 1) // 2 + 1)
        seen: set[frozenset[int]] = set()
        for step in steps:
            for position, index in enumerate(indices):
                other = indices[(position + step) % count]
                if frozenset((index, other)) not in seen:
                    seen.add(frozenset((index, other)))
                    yield index, other

    async def _compare(self, connection: ChatConnection, texts: dict[int, SampleTexts], pair: tuple[int, int]) -> _Pair:
        one, two = texts[pair[0]], texts[pair[1]]
        if one.response == two.response or (one.is_empty and two.is_empty):
            return _Pair(pair, 0.5)
        if one.is_empty or two.is_empty:
            return _Pair(pair, float(two.is_empty))
        outcomes = await self.ask_both_orders(connection, one, two)
        answers = [outcome.verdict.values[BETTER.name] for outcome in outcomes if outcome.verdict is not None]
        if len(answers) < 2 or answers in ([FIRST, FIRST], [SECOND, SECOND]):
            return _Pair(pair, None, outcomes)
        shares = {FIRST: 1.0, TIE: 0.5, SECOND: 0.0}
        return _Pair(pair, (shares[answers[0]] + 1.0 - shares[answers[1]]) / 2, outcomes)

    async def ask_both_orders(
        self, connection: ChatConnection, one: SampleTexts, two: SampleTexts
    ) -> tuple[CallOutcome, CallOutcome]:
        """The judge's answers with `one` in the first place, and with `two` in the first place."""
        first, second = self._comparison(one, two), self._comparison(two, one)
        return await asyncio.gather(ask(connection, first), ask(connection, second))

    def _settle_pairs(self, index: int, pairs: Sequence[_Pair]) -> RewardOutput:
        shares = [
            pair.share if pair.members[0] == index else 1.0 - pair.share for pair in pairs if pair.share is not None
        ]
        failure = next((pair.failure for pair in pairs if pair.failure is not None), None)
        contradictions = sum(pair.share is None and pair.failure is None for pair in pairs)
        counts = Counter("wins" if share > 0.5 else "losses" if share < 0.5 else "ties" for share in shares)
        metadata = {"wins": counts["wins"], "ties": counts["ties"], "losses": counts["losses"],
                    "contradictions": contradictions}  # fmt: skip
        counted = ", ".join(f"{count} {what}" for what, count in metadata.items() if count)
        if 2 * len(shares) < len(pairs) or not shares:
            if failure is not None:
                return RewardOutput.unscored(failure.status, f"{self.name}: {failure.reason}", metadata=metadata)
            reason = (
                f"the judge contradicts itself in {contradictions} of {len(pairs)} comparisons when the two responses "
                "swap positions"
            )
            return RewardOutput.unscored(Status.UNPARSED, f"{self.name}: {reason}", metadata=metadata)
        return RewardOutput(
            statistics.fmean(shares), reason=f"of {len(pairs)} comparisons: {counted}", metadata=metadata
        )

    def _settle_ranks(
        self,
        index: int,
        texts: dict[int, SampleTexts],
        first_with: Mapping[str, int],
        votes: Sequence[dict[int, float]],
        reasoning: str,
    ) -> RewardOutput:
        last = float(len(texts) + 1)
        shares = []
        for ranks in votes:
            full = {
                each: last if shown.is_empty else ranks.get(first_with[shown.response], 1.0)
                for each, shown in texts.items()
            }
            others = [rank for each, rank in full.items() if each != index]
            above = sum(full[index] < rank for rank in others) + 0.5 * sum(full[index] == rank for rank in others)
            shares.append(above / len(others))
        metadata = {"votes": shares} if len(shares) > 1 else {}
        if max(shares) - min(shares) > self.votes.max_spread:
            shown = ", ".join(f"{share:.2f}" for share in shares)
            reason = f"{self.name}: {len(shares)} rankings disagree about this response: {shown} of the others below it"
            return RewardOutput.unscored(Status.UNPARSED, reason, metadata=metadata)
        return RewardOutput(statistics.fmean(shares), reason=reasoning[:MAX_REASON], metadata=metadata)

    def _report(
        self, outputs: list[RewardOutput], texts: dict[int, SampleTexts], outcomes: Sequence[CallOutcome]
    ) -> list[RewardOutput]:
        """The outputs; the first member reports the usage of all calls of the group."""
        if texts and outcomes:
            outputs[min(texts)].metadata.update(report_calls(outcomes), model=self.endpoint.model)
        return outputs

    def _comparison(self, first: SampleTexts, second: SampleTexts) -> FencedQuestion:
        code = make_nonce([*first.all, *second.all], {"asked": "better"})
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

    def _shuffle(self, texts: dict[int, SampleTexts], distinct: Sequence[int], number: int) -> tuple[list[int], str]:
        """An order of the members that follows from their texts, and the code of the call."""
        every = [text for index in distinct for text in texts[index].all]
        code = make_nonce(every, {"asked": "ranks", "vote": number})
        order = list(distinct)
        random.Random(code).shuffle(order)
        return order, code

    def _ranking(self, texts: dict[int, SampleTexts], order: Sequence[int], code: str) -> FencedQuestion:
        fence, labels = Fence(code), LABELS[: len(order)]
        responses = [fence.enclose(label, texts[index].response) for label, index in zip(labels, order, strict=True)]
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
    """The prompt and the reference of a group, quoted."""
    parts = [fence.enclose("prompt", texts.prompt)]
    return parts if texts.reference is None else [*parts, fence.enclose("reference", texts.reference)]
