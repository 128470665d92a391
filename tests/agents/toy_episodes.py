"""A tokenizer whose texts can be encoded in several ways, a model of random actions, and episodes played with them."""

import asyncio
import random
from typing import Any

from plaudit.agents import (
    Action,
    ActionRequest,
    AgentInstance,
    ContinuousSampler,
    Episode,
    EpisodeLimits,
    EpisodeStart,
    Player,
    SamplingParams,
)

VOCABULARY = ["a", "b", "ab", "ba", "aba", " ", "?", "<end>"]
END = VOCABULARY.index("<end>")


class ToyTokenizer:
    """Greedy: `encode(decode(ids))` is often another sequence, as with every real tokenizer."""

    bos_token = None

    def __call__(self, text: str, add_special_tokens: bool = True) -> dict[str, list[int]]:
        ids, at = [], 0
        by_length = sorted(range(len(VOCABULARY)), key=lambda token: -len(VOCABULARY[token]))
        while at < len(text):
            token = next(token for token in by_length if text.startswith(VOCABULARY[token], at))
            ids.append(token)
            at += len(VOCABULARY[token])
        return {"input_ids": ids}

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return "".join(VOCABULARY[token] for token in ids if token != END or not skip_special_tokens)


class ToyModel:
    """Draws random tokens by seed, episode and turn, and remembers what it was asked and what it drew."""

    def __init__(self, seed: int = 0, most: int = 4) -> None:
        self.seed, self.most = seed, most
        self.tokenizer = ToyTokenizer()
        self.asked: list[list[ActionRequest]] = []
        self.drawn: list[list[Action]] = []

    def draw(self, requests: list[ActionRequest]) -> list[Action]:
        self.asked.append(requests)
        self.drawn.append([self._action(request) for request in requests])
        return self.drawn[-1]

    def _action(self, request: ActionRequest) -> Action:
        chance = random.Random(f"{self.seed}/{request.episode}/{request.turn}")
        length = chance.randint(1, min(self.most, request.sampling_params.max_tokens))
        ids = [chance.randrange(len(VOCABULARY)) for _ in range(length)]
        return Action(ids, self.tokenizer.decode(ids), [-float(chance.random()) for _ in ids], "stop")


def play_episodes(
    environment: Any, prompts: list[str], limits: EpisodeLimits, model: ToyModel | None = None, **params: Any
) -> list[Episode]:
    """Episodes of these prompts, all at once; the label is the prompt's place."""
    model = model or ToyModel()
    sampler = ContinuousSampler(model.draw)
    player = Player(environment, sampler, model.tokenizer, limits)

    async def play() -> list[Episode]:
        return await sampler.play(
            [
                lambda at=at, text=text: player.play(EpisodeStart(text, at), SamplingParams(**params))
                for at, text in enumerate(prompts)
            ]
        )

    return asyncio.run(play())


def answers_with(*feedbacks: str, **more: Any) -> type:
    """An environment that gives these feedbacks, one after the other, and is done after the last."""

    class Says(AgentInstance):
        def __init__(self) -> None:
            self.left = list(feedbacks)

        async def step(self, states: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
            return {"environment_feedback": self.left.pop(0), "done": not self.left, **more}

    return Says
