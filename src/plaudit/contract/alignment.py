"""Assign the rewards of words to tokenizer tokens by character offsets.

A word's reward goes to the token that completes the word, so the sum does not change.
"""

from collections.abc import Sequence

from plaudit.contract.output import RewardOutput
from plaudit.errors import InvalidOutput
from plaudit.trajectory import Trajectory


def word_spans(text: str) -> list[tuple[int, int]]:
    """The character spans of `text.split()`.

    >>> word_spans(" ab  c")
    [(1, 3), (5, 6)]
    """
    spans, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        spans.append((start, end))
    return spans


def words_to_tokens(text: str, word_values: Sequence[float], offsets: Sequence[tuple[int, int]]) -> list[float]:
    """One value per token; tokens that complete no word get 0.0.

    >>> words_to_tokens("ab c", [1.0, 2.0], [(0, 1), (1, 2), (2, 4)])
    [0.0, 1.0, 2.0]
    """
    spans = word_spans(text)
    if len(spans) != len(word_values):
        raise InvalidOutput(f"{len(word_values)} word rewards for a response of {len(spans)} words")
    values = [0.0] * len(offsets)
    token = 0
    for (_, end), value in zip(spans, word_values, strict=True):
        while token < len(offsets) and offsets[token][1] < end:
            token += 1
        if token == len(offsets) or offsets[token][0] >= end:
            raise InvalidOutput(f"no token covers character {end - 1} of the response; check the token offsets")
        values[token] += value
    return values


def check_lengths(output: RewardOutput, trajectory: Trajectory) -> None:
    """Raise InvalidOutput unless there is one token reward per unit (word or token) that the output declares."""
    if output.token_rewards is None:
        return
    count = len(output.token_rewards)
    if output.token_unit == "word":
        words = len(trajectory.response.split())
        if count != words:
            raise InvalidOutput(
                f"{count} token rewards for a response of {words} words; "
                "give one per word of response.split(), or set token_unit='token' and give one per tokenizer token"
            )
    elif trajectory.tokens is None:
        raise InvalidOutput("token_unit is 'token' but the trajectory carries no tokens; give it `tokens`")
    elif count != len(trajectory.tokens):
        raise InvalidOutput(f"{count} token rewards for a response of {len(trajectory.tokens)} tokens; give one each")


def token_rewards_of(output: RewardOutput, trajectory: Trajectory) -> list[float] | None:
    """The output's token rewards, one per tokenizer token of the trajectory, however the reward counted them."""
    if output.token_rewards is None or output.token_unit == "token":
        return output.token_rewards
    if trajectory.tokens is None or trajectory.tokens.offsets is None:
        raise InvalidOutput(
            "word rewards need the tokens' character offsets to reach tokens; give the trajectory "
            "Tokens(ids=…, offsets=…), as tokenizers return with return_offsets_mapping=True"
        )
    return words_to_tokens(trajectory.response, output.token_rewards, trajectory.tokens.offsets)
