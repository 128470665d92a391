"""A user played by a model behind an endpoint: what the model is shown, who ends episodes, and what failures cost."""

import asyncio
import socket

import pytest

from plaudit.agents import CharacterTokenizer, EpisodeLimits, EpisodeStart, Player, SamplingParams
from plaudit.contract.output import Status
from plaudit.endpoint.channel import EndpointPolicy
from plaudit.worlds import EndedBy, ModelUser, Task, Turn, World, call
from plaudit.worlds.world import write_call
from tests.agents.scripted import AnsweringSampler
from tests.judges.servers import Reply, serving
from tests.worlds.test_world import world_of

TAKE = write_call(call("withdraw", amount=30))
ACTIONS = ["How much?", TAKE, "Taken. ###STOP###", "Goodbye."]
QUICK = EndpointPolicy(tries=2, first_wait_s=0.0, attempt_s=0.5)


def world_with(user: ModelUser) -> type[World]:
    task = Task("t", (Turn("I need money.", (call("withdraw", amount=30),)),), scenario="You need 30, in cash.")
    return world_of(task, ended_by=EndedBy.USER, user=user)


def play(world: type[World], actions: list[str] = ACTIONS):
    left = list(actions)
    sampler = AnsweringSampler(lambda text: left.pop(0))
    player = Player(world, sampler, CharacterTokenizer(), EpisodeLimits(max_steps=len(left)))
    return asyncio.run(player.play(EpisodeStart("", "t"), SamplingParams(max_tokens=1000)))


def test_the_model_sees_the_dialogue_only_and_its_own_reply_ends_the_episode():
    replies = iter(["30, please.", "Thanks. Is it done?", "###STOP###"])
    with serving(lambda body: next(replies)) as server:
        episode = play(world_with(ModelUser(server.url, "m", max_tokens=50)))
    assert (episode.status, episode.finish_reason, episode.reward) == (Status.OK, "stop", 1.0)
    *_, last = server.requests
    shown = [(each["role"], each["content"]) for each in last["messages"]]
    assert shown[0][0] == "system"
    assert "You need 30, in cash." in shown[0][1]
    assert shown[1:] == [
        ("user", "How can I help you?"),
        ("assistant", "I need money."),
        ("user", "How much?"),
        ("assistant", "30, please."),
        ("user", "Taken. "),  # the agent cannot end the episode
        ("assistant", "Thanks. Is it done?"),
        ("user", "Goodbye."),
    ]
    assert (last["model"], last["max_tokens"], last["temperature"]) == ("m", 50, 0.0)
    assert "withdraw" not in str(shown[1:])


def test_the_state_decides_when_the_model_ends_the_episode():
    with serving(lambda body: "###STOP###") as server:
        world = world_with(ModelUser(server.url, "m"))
        assert (play(world, ["Done."]).reward, play(world, [TAKE, "Done."]).reward) == (0.0, 1.0)


def test_an_overloaded_endpoint_is_called_again():
    replies = iter([Reply(status=503), Reply(drop=True), Reply("###STOP###")])
    policy = EndpointPolicy(tries=3, first_wait_s=0.0)
    with serving(lambda body: next(replies)) as server:
        episode = play(world_with(ModelUser(server.url, "m", policy=policy)), [TAKE, "Done."])
    assert (episode.reward, len(server.requests)) == (1.0, 3)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(""), "the model m that plays the user said nothing"),
        (Reply("  \n"), "the model m that plays the user said nothing"),
        (Reply(None), "the model m that plays the user said nothing"),
        (Reply("I would like to", finish_reason="length"), "cut off at max_tokens=200"),
        (Reply(body=b"<html>"), "did not answer with a chat completion"),
        (Reply(body=b'{"choices": []}'), "did not answer with a chat completion"),
        (Reply(status=401), "HTTP 401"),
        (Reply(status=500), "gave up after 2 tries"),
        (Reply("###STOP###", wait_s=2.0), "no answer within 0.5 s"),
        (Reply(drop=True), "gave up after 2 tries"),
    ],
)
def test_a_reply_that_fails_is_a_status_of_the_episode_and_no_score(reply, reason):
    with serving(lambda body: reply) as server:
        episode = play(world_with(ModelUser(server.url, "m", policy=QUICK)), [TAKE, "Done."])
    assert (episode.status, episode.reward, episode.score) == (Status.ERROR, None, None)
    assert reason in episode.reason


def test_an_endpoint_that_is_down_is_a_status_of_the_episode_and_no_score():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        episode = play(world_with(ModelUser(url, "m", policy=QUICK)), [TAKE, "Done."])
    assert (episode.status, episode.reward) == (Status.ERROR, None)
    assert "no reply of the user" in episode.reason
