"""Episodes: tokens stay as they were drawn, limits hold, failures end one episode and no other."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plaudit import Status
from plaudit.agents import AgentInstance, EpisodeLimits
from plaudit.errors import AgentError, InvalidSettings
from tests.agents.toy_episodes import ToyModel, ToyTokenizer, answers_with, play_episodes

TEXTS = st.text("ab ?", max_size=6)


@given(st.lists(TEXTS, min_size=1, max_size=5), TEXTS.filter(bool), st.integers(0, 10**6), st.integers(2, 30))
@settings(max_examples=60, deadline=None)
def test_the_tokens_of_an_episode_are_the_ones_that_were_drawn(feedbacks, prompt, seed, max_length):
    model = ToyModel(seed)
    limits = EpisodeLimits(max_steps=len(feedbacks), max_length=max_length + len(prompt))
    [episode] = play_episodes(answers_with(*feedbacks), [prompt], limits, model)
    drawn = [actions[0] for actions in model.drawn]
    whole = [*episode.prompt_ids, *episode.ids]

    assert [segment.ids for segment in episode.segments if segment.is_action] == [action.ids for action in drawn]
    assert [token for token, chosen in zip(episode.ids, episode.mask, strict=True) if chosen] == [
        token for action in drawn for token in action.ids
    ]
    assert [number for number, chosen in zip(episode.logprobs, episode.mask, strict=True) if chosen] == [
        number for action in drawn for number in action.logprobs
    ]
    for [request], action in zip(model.asked, drawn, strict=True):  # each was drawn after exactly what stands before it
        end = len(request.token_ids)
        assert whole[:end] == request.token_ids
        assert whole[end : end + len(action.ids)] == action.ids
    given_ids = [segment.ids for segment in episode.segments if not segment.is_action]
    answered = [text for text in feedbacks[: len(drawn) - 1] if text]
    assert given_ids == [ToyTokenizer()(text)["input_ids"] for text in answered]
    assert len(whole) <= limits.max_length


def test_the_property_would_notice_text_that_is_encoded_again():
    [episode] = play_episodes(answers_with("?", "?", "?"), ["a"], EpisodeLimits(), ToyModel(3, most=6))
    assert ToyTokenizer()(episode.response)["input_ids"] != episode.ids


def test_an_episode_keeps_its_turns_and_the_sum_of_their_rewards():
    [episode] = play_episodes(
        answers_with("?", "b", rewards=0.5, scores=[0.25], extra_logs={"hit": True}), ["a"], EpisodeLimits()
    )
    assert (episode.reward, episode.score, episode.logs) == (1.0, 0.25, {"hit": True})
    assert [(step.observation, step.reward, step.metadata["feedback"]) for step in episode.steps] == [
        ("a", 0.5, "?"),
        ("?", 0.5, "b"),
    ]
    first, second = (step.metadata["tokens"] for step in episode.steps)
    assert episode.ids[first[1] : second[0]] == ToyTokenizer()("?")["input_ids"]
    assert second[1] == len(episode.ids)  # feedback that no action follows is not trained on
    assert episode.finish_reason == "stop"


def test_an_environment_gets_the_whole_text_and_the_action_alone():
    seen = []

    class Looks(AgentInstance):
        async def step(self, states, **kwargs):
            seen.append(states)
            return {"environment_feedback": "?", "done": len(seen) == 2}

    [episode] = play_episodes(Looks, ["a"], EpisodeLimits())
    first, second = seen
    assert first["observation_text"] == "a"
    assert second["observation_text"] == "a" + first["action_text"] + "?"
    assert episode.response == first["action_text"] + "?" + second["action_text"]
    assert first["label"] == 0


def test_no_rewards_at_all_is_none_and_not_zero():
    assert play_episodes(answers_with("?"), ["a"], EpisodeLimits())[0].reward is None


@pytest.mark.parametrize(
    ("limits", "steps"),
    [(EpisodeLimits(max_steps=3), 3), (EpisodeLimits(max_steps=None, max_length=4), 3)],
    ids=["steps", "tokens"],
)
def test_a_limit_ends_an_episode(limits, steps):
    [episode] = play_episodes(answers_with(*[""] * 9), ["a"], limits, ToyModel(most=1))
    assert (len(episode.steps), episode.finish_reason, episode.status) == (steps, "length", Status.OK)


def test_a_first_observation_that_leaves_no_room_is_an_error_and_not_cut():
    [episode] = play_episodes(answers_with("?"), ["a a a"], EpisodeLimits(max_length=3))
    assert episode.status is Status.ERROR
    assert "5 tokens, which leaves no room" in episode.reason


@pytest.mark.parametrize("wrong", [{"max_steps": 0}, {"max_length": -1}, {"max_steps": None}, {"deadline_s": 0.0}])
def test_invalid_limits_are_errors(wrong):
    with pytest.raises((AgentError, InvalidSettings)):
        EpisodeLimits(**wrong)


class Fragile(AgentInstance):
    """Goes wrong in a way that depends on the label."""

    async def __init__(self, *args, **kwargs):
        self.turn = 0

    async def reset(self, states, **kwargs):
        if states["label"] == 1:
            raise ConnectionError("no server")
        return {"observation": states["observation"]}

    async def step(self, states, **kwargs):
        self.turn += 1
        if states["label"] == 2 and self.turn == 2:
            raise SystemExit(1)
        if states["label"] == 3:
            await asyncio.sleep(60)
        if states["label"] == 4:
            return {"environment_feedback": "?", "finished": True}
        if states["label"] == 5:
            return {"environment_feedback": "?", "done": True, "rewards": float("nan")}
        return {"environment_feedback": "?", "done": self.turn == 2, "rewards": 1.0}


def test_an_episode_that_fails_is_recorded_and_the_others_continue():
    episodes = play_episodes(Fragile, ["a"] * 7, EpisodeLimits(deadline_s=0.2))
    assert [episode.status.value for episode in episodes] == ["ok", "error", "error", "timeout", "error", "error", "ok"]
    assert [episode.reward for episode in episodes] == [2.0, None, None, None, None, None, 2.0]
    reasons = [episode.reason for episode in episodes]
    assert "Fragile.reset raised ConnectionError: no server" in reasons[1]
    assert "test_episode.py" in reasons[1]
    assert "Fragile.step raised SystemExit" in reasons[2]
    assert "took longer than the 0.2 s" in reasons[3]
    assert "no 'done'" in reasons[4]
    assert "rewards is nan" in reasons[5]
    assert len(episodes[2].steps) == 1  # what was played until then is kept
    assert len([segment for segment in episodes[2].segments if segment.is_action]) == 2


def test_sampling_params_of_one_episode_never_reach_another():
    class Changes(AgentInstance):
        async def step(self, states, **kwargs):
            params = states["sampling_params"]
            params.temperature = float(states["label"])
            return {"environment_feedback": "?", "done": False, "sampling_params": params}

    model = ToyModel()
    play_episodes(Changes, ["a", "a"], EpisodeLimits(max_steps=2), model, temperature=9.0)
    temperatures = [[request.sampling_params.temperature for request in requests] for requests in model.asked]
    assert temperatures == [[9.0, 9.0], [0.0, 1.0]]


def test_an_abstract_environment_is_an_error_on_its_sample():
    class Nothing(AgentInstance):
        pass

    [episode] = play_episodes(Nothing, ["a"], EpisodeLimits())
    assert "abstract" in episode.reason
