"""Token in, token out: with every tokenizer the tokens trained on are those drawn, and re-encoding would drift."""

import asyncio
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plaudit.agents import (
    AgentInstance,
    ContinuousSampler,
    Environment,
    EpisodeLimits,
    EpisodeStart,
    Player,
    SamplingParams,
    StepResult,
)
from plaudit.agents.generation import Action
from tests.agents.tokenizers import tokenizer_of

KINDS = ["character", "smollm2", "leading_space"]
WORDS = st.lists(
    st.sampled_from(["answer", " is", ": ", "42", "\n\n", "[INCORRECT]", "step", "-by-", "  ", "="]), max_size=6
)


class Drawn:
    """Draws tokens at random, most of them in spellings that the tokenizer itself would never choose."""

    def __init__(self, tokenizer, seed):
        self.tokenizer, self.seed, self.log = tokenizer, seed, []
        special = set(tokenizer.all_special_ids)
        self.ids = [token for token in range(len(tokenizer)) if token not in special]

    def draw(self, requests):
        actions = []
        for request in requests:
            chance = random.Random(f"{self.seed}/{request.episode}/{request.turn}")
            ids = chance.choices(self.ids, k=chance.randint(1, 6))
            if chance.random() < 0.5 and self.tokenizer.eos_token_id is not None:
                ids.append(self.tokenizer.eos_token_id)
            text = self.tokenizer.decode(ids, skip_special_tokens=True)
            actions.append(Action(ids, text, [-0.5] * len(ids), "stop"))
            self.log.append((request, actions[-1]))
        return actions


def play(environment, tokenizer, seed, start):
    model = Drawn(tokenizer, seed)
    sampler = ContinuousSampler(model.draw)
    player = Player(environment, sampler, tokenizer, EpisodeLimits(max_steps=4))

    async def run():
        return await sampler.play([lambda: player.play(start, SamplingParams())])

    [episode] = asyncio.run(run())
    return episode, model.log


def check_tokens(episode, log):
    whole = [*episode.prompt_ids, *episode.ids]
    assert [segment.ids for segment in episode.segments if segment.is_action] == [action.ids for _, action in log]
    for request, action in log:
        end = len(request.token_ids)
        assert whole[:end] == request.token_ids  # what the model saw
        assert whole[end : end + len(action.ids)] == action.ids  # and what it said
    chosen = [token for token, own in zip(episode.ids, episode.mask, strict=True) if own]
    assert chosen == [token for _, action in log for token in action.ids]


def answering(*feedbacks):
    class Answers(AgentInstance):
        def __init__(self):
            self.left = list(feedbacks)

        async def step(self, states, **kwargs):
            return {"environment_feedback": self.left.pop(0), "done": not self.left}

    return Answers


@pytest.mark.parametrize("kind", KINDS)
@given(st.lists(WORDS, min_size=1, max_size=4), st.integers(0, 10**6))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_tokens_of_an_episode_are_those_that_were_drawn(kind, feedbacks, seed):
    tokenizer = tokenizer_of(kind)
    environment = answering(*("".join(words) for words in feedbacks))
    episode, log = play(environment, tokenizer, seed, EpisodeStart("6 x 7? "))
    check_tokens(episode, log)


class Chat(Environment):
    """Three turns of a chat."""

    turns = 0

    async def reset(self, start):
        return None

    async def step(self, action):
        self.turns += 1
        return StepResult(f"no, {self.turns}", done=self.turns == 3, role="user")


def test_in_a_chat_feedback_takes_the_turns_of_the_template():
    tokenizer = tokenizer_of("smollm2")
    messages = ({"role": "user", "content": "6 x 7?"},)
    seeds = range(12)
    for seed in seeds:
        episode, log = play(Chat, tokenizer, seed, EpisodeStart("6 x 7?", messages=messages))
        check_tokens(episode, log)
        assert tokenizer.decode(episode.prompt_ids).endswith(
            "<|im_start|>user\n6 x 7?<|im_end|>\n<|im_start|>assistant\n"
        )
        whole = tokenizer.decode([*episode.prompt_ids, *episode.ids])
        assert whole.count("<|im_end|>\n<|im_start|>user\nno, 1<|im_end|>\n<|im_start|>assistant\n") == 1
        assert "<|im_end|><|im_end|>" not in whole  # an action that ended its turn needs no second end


@pytest.mark.parametrize("kind", ["smollm2", "leading_space"])
def test_encoding_the_conversation_again_would_train_on_other_tokens(kind):
    tokenizer = tokenizer_of(kind)
    drifted = 0
    for seed in range(20):
        episode, _ = play(answering("\n\nno: ", "\n\nno: ", "!"), tokenizer, seed, EpisodeStart("6 x 7? "))
        text = tokenizer.decode([*episode.prompt_ids, *episode.ids], skip_special_tokens=False)
        again = tokenizer(text, add_special_tokens=False)["input_ids"]
        drifted += again != [*episode.prompt_ids, *episode.ids]
    assert drifted >= 15
