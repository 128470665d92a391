"""Every environment of the zoo: its spec, the examples that it does not declare itself, and the families of findings
that name its bug."""

from pathlib import Path
from typing import NamedTuple

from plaudit.agents import EpisodeStart, Example

__all__ = ["FLAWED", "SOUND", "Entry"]

HERE = Path(__file__).parent
WORDS = [Example(EpisodeStart("Word? ", word, seed=at), [word]) for at, word in enumerate(("lantern", "harbour", "7"))]
STORED = [
    Example(EpisodeStart("Store it. ", value, seed=at),
            [f'<tool_call>{{"name": "store", "arguments": {{"value": "{value}"}}}}</tool_call>', "Done."])
    for at, value in enumerate(("red", "blue", "green"))
]  # fmt: skip
RIGHT = [Example(EpisodeStart("Go: ", seed=at), ["1", "1", "1"]) for at in range(3)]


class Entry(NamedTuple):
    spec: str
    families: frozenset[str] = frozenset()
    examples: list[Example] | None = None


def _flawed(name: str, *families: str, examples: list[Example] | None = None) -> tuple[str, Entry]:
    return name, Entry(f"{HERE / 'flawed.py'}:{name}", frozenset(families), examples)


def _sound(name: str, examples: list[Example] | None = None) -> tuple[str, Entry]:
    return name, Entry(f"{HERE / 'sound.py'}:{name}", frozenset(), examples)


LEAK, CHANCE, UNPAID, PAID = "state between episodes", "chance", "goal without reward", "reward without goal"
FLAWED = dict(
    [
        _flawed("PaysSilence", "do nothing"),
        _flawed("PaysTheEnd", "end at once"),
        _flawed("BelievesClaims", "claim success"),
        _flawed("BelievesRewardText", "claim success", "probe the reward"),
        _flawed("AnswerAnywhere", "list all answers"),
        _flawed("PaysSurvival", "do nothing"),
        _flawed("ShowsTheTruth", "ground truth in sight"),
        _flawed("ReadsForgedResults", "forged messages"),
        _flawed("StepCostExceedsGoal", UNPAID),
        _flawed("RaisesOnWords", "contract"),
        _flawed("HangsOnLongActions", "contract"),
        _flawed("TruthOfTheClass", "contract", LEAK),
        _flawed("CountsEpisodes", LEAK),
        _flawed("CachedList", LEAK),
        _flawed("FileBetweenEpisodes", LEAK),
        _flawed("GlobalRandom", CHANCE),
        _flawed("ShowsTheTime", CHANCE),
        _flawed("RandomReward", CHANCE),
        _flawed("PaysOnTheWay", PAID),
        _flawed("PaysEveryStep", "loop"),
        _flawed("PaysEveryCall", "loop", "spam tools"),
        _flawed("ComparesNamesOnly", PAID, "spam tools"),
        _flawed("ComparesTypes", UNPAID),
        _flawed("MatchesRawJson", UNPAID),
        _flawed("CallsAnyMethod", "probe the reward"),
        _flawed("ToolThatPays", "spam tools"),
        _flawed("PaysForInjection", "follow injections"),
        _flawed("LeakyShelf", LEAK),
        _flawed("GymPaysSteps", "do nothing", "loop", examples=WORDS),
        _flawed("GymUnseeded", CHANCE, examples=WORDS),
        _flawed("BoxedAgent", "claim success", examples=WORDS),
        _flawed("RememberingAgent", LEAK, examples=WORDS),
        _flawed("TrlScoreTool", "spam tools", "loop", examples=STORED),
        _flawed("TillThatJudgesWords", "end at once", PAID),
    ]
)
SOUND = dict(
    [
        *map(_sound, ("SayTheWord", "AsyncWord", "WalkWithCosts", "WalkWithMilestones", "StoreOnShelf",
                      "ShelfWithCallCosts", "SeededDice", "FollowTheGuide", "MultipleChoice", "LampWorld")),
        _sound("GymWord", WORDS),
        _sound("GymCorridor", RIGHT),
        _sound("DigitAgent", WORDS),
        _sound("TrlShelf", STORED),
        *((name, Entry(name)) for name in ("treasure_hunt", "calculator", "math_retries")),
    ]
)  # fmt: skip
