"""A run whose texts try everything: script, markup, right-to-left, control characters, a megabyte."""

import random
from typing import Any

from plaudit import RewardOutput, Status, Step, Tokens, Trajectory
from plaudit.rollouts import Rollout, ScoredRollout

HOSTILE = (
    "<script>document.title='owned';fetch('https://example.org/x')</script>",
    "</script><script>document.title='owned'</script>",
    "<img src='https://example.org/x.png' onerror=\"document.title='owned'\">",
    "<svg onload=\"document.title='owned'\">",
    "\u202egnihtyna\u202c then \u05e2\u05d1\u05e8\u05d9\u05ea",
    "zero\u200bwidth\u2060 and \x00 and \x1b[31mred",
    "<!-- <script> ]]> ${document.title='owned'} `x`",
    "\ud800 alone",
    "'\"><a href=\"javascript:document.title='owned'\">x</a>",
    "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content='0;url=https://example.org'>",
    "m" * 1_000_000,
)


def hostile_rollouts(count: int = 160) -> list[ScoredRollout]:
    """Groups of eight over ten steps; hostile texts in every place that a page could show."""
    return [_rollout(number, random.Random(number)) for number in range(count)]


def _rollout(number: int, draw: random.Random) -> ScoredRollout:
    group, nasty = number // 8, HOSTILE[number % (len(HOSTILE) - 1)]
    response = (
        HOSTILE[number] if number < len(HOSTILE) else f"I think it is {draw.randrange(9)} since {draw.random():.2f}"
    )
    trajectory = Trajectory(
        [{"role": "system", "content": nasty}, {"role": "user", "content": "2+2?"}]
        if number % 2
        else f"{group}? {nasty}",
        response,
        ground_truth=nasty,
        group=f"<b>{group}</b>",
        id=f"<i>{number}</i>",
        training_step=1 + number // 16,
        columns={
            "level": number % 5,
            "constructor": number,
            "-minus": -number,
            "kind": draw.choice(["<easy>", "hard"]),
            "nested": {"deep": [nasty]},
        },
        metadata={"<script>": nasty},
        steps=[Step(nasty, "<b>said</b>", 0.5), Step("more", nasty, -0.25, {"logs": _world_logs(nasty)})]
        if number % 11 == 0
        else [],
        tokens=Tokens([1, 2], [(0, 1), (1, 3)]) if number == 13 else None,
    )
    return Rollout(trajectory, _output(number, draw, response, nasty))


def _world_logs(nasty: str) -> dict[str, Any]:
    """What a world says of a step."""
    calls = [{"name": nasty, "arguments": {nasty: nasty}, "result": nasty}, {"malformed": nasty, "result": nasty}]
    return {"calls": calls, "changes": [{"path": nasty, "before": None, "after": [nasty]}], "broken": nasty}


def _output(number: int, draw: random.Random, response: str, nasty: str) -> RewardOutput:
    if number % 17 == 3:
        return RewardOutput.unscored(draw.choice([Status.ERROR, Status.TIMEOUT]), f"raised {nasty}")
    right, form = float(draw.random() < number / 160), draw.random()
    words = len(response.split())
    by_word = [draw.uniform(-1, 1) for _ in range(words)] if number % 3 == 0 and words < 1000 else None
    return RewardOutput(
        0.8 * right + 0.2 * form,
        score=right,
        reason=nasty,
        metadata={"note": nasty},
        components={
            "<b>right</b>": RewardOutput(right, score=right, reason=nasty),
            "\u202econstructor": RewardOutput(form),
        },
        latency_s=0.002 * form,
        token_rewards=[1.0, -1.0] if number == 13 else by_word,
        token_unit="token" if number == 13 else "word",
    )
