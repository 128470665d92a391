"""The endpoint sampler against a real HTTP server on this machine that speaks the OpenAI protocol."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from plaudit.engine import EndpointPolicy
from plaudit.errors import InvalidSettings, SamplingFailed
from plaudit.training import EndpointSampler, SamplingSettings
from plaudit.training.model.loading import tiny_policy
from plaudit.training.model.policy import Policy
from plaudit.trajectory import Trajectory

HASTY = EndpointPolicy(tries=3, first_wait_s=0.01, longest_wait_s=0.02, attempt_s=5)


class Server(ThreadingHTTPServer):
    """Answers with real samples of a policy; `failures` are statuses to answer with first."""

    def __init__(self, policy: Policy) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.policy, self.lock = policy, threading.Lock()
        self.asked: list[tuple[str, dict, str | None]] = []
        self.failures: list[int] = []
        self.at_most: int | None = None
        self.body: bytes | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            self.server.asked.append((self.path, asked, self.headers.get("authorization")))
            status = self.server.failures.pop(0) if self.server.failures else 200
            answer = self.server.body or json.dumps(self._told(asked) if status == 200 else {"error": "no"}).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def _told(self, asked: dict) -> dict:
        is_chat = "messages" in asked
        prompt = asked["messages"][-1]["content"] if is_chat else asked["prompt"]
        settings = SamplingSettings(max_new_tokens=asked["max_tokens"], seed=asked.get("seed", 0))
        count = min(asked["n"], self.server.at_most or asked["n"])
        sampled = self.server.policy.sampler().sample(prompt, count, settings=settings)
        choices = [self._choice(each, asked, is_chat) for each in sampled.trajectories]
        ids = {"prompt_token_ids": sampled.prompt_ids[0]} if asked.get("return_token_ids") else {}
        return {"choices": choices, **ids}

    def _choice(self, trajectory: Trajectory, asked: dict, is_chat: bool) -> dict:
        choice = {"finish_reason": trajectory.metadata["finish_reason"]}
        choice |= (
            {"message": {"role": "assistant", "content": trajectory.response}}
            if is_chat
            else {"text": trajectory.response}
        )
        if asked.get("return_token_ids"):
            told = trajectory.tokens.logprobs
            choice["token_ids"] = trajectory.tokens.ids
            choice["logprobs"] = (
                {"content": [{"logprob": each} for each in told]} if is_chat else {"token_logprobs": told}
            )
        return choice

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def server(warm_policy):
    server = Server(warm_policy)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_texts_are_completed_in_groups(server):
    rows = [Trajectory("21=", "", ground_truth="12"), Trajectory("43=", "", ground_truth="34")]
    sampler = EndpointSampler(
        server.url, "tiny", SamplingSettings(max_new_tokens=6, top_k=5, stop=("x",)), policy=HASTY
    )
    sampled = sampler.sample(rows, num_samples=3)
    assert [each.group for each in sampled.trajectories] == [0, 0, 0, 1, 1, 1]
    assert sampled.ground_truths == ["12"] * 3 + ["34"] * 3
    assert [each.tokens for each in sampled.trajectories] == [None] * 6
    path, asked, key = server.asked[0]
    assert (path, key) == ("/v1/completions", None)
    assert asked.items() >= {"model": "tiny", "n": 3, "max_tokens": 6, "top_k": 5, "stop": ["x"]}.items()
    assert {asked["prompt"] for _, asked, _ in server.asked} == {"21=", "43="}


def test_chat_messages_go_to_the_chat_endpoint_with_the_key(server, monkeypatch):
    monkeypatch.setenv("THE_KEY", "k")
    messages = [{"role": "system", "content": "Sort."}, {"role": "user", "content": "21="}]
    EndpointSampler(server.url + "/", "tiny", api_key_env="THE_KEY", policy=HASTY).sample([messages])
    path, asked, key = server.asked[0]
    assert (path, asked["messages"], key) == ("/v1/chat/completions", messages, "Bearer k")


def test_a_text_is_sent_as_a_chat_message_on_request(server):
    EndpointSampler(server.url, "tiny", chat=True, policy=HASTY).sample("21=")
    assert server.asked[0][1]["messages"] == [{"role": "user", "content": "21="}]


@pytest.mark.parametrize("chat", [False, True], ids=["completions", "chat"])
def test_token_ids_and_log_probabilities_arrive_where_the_server_tells_them(server, warm_policy, chat):
    settings = SamplingSettings(max_new_tokens=6, seed=4)
    sampled = EndpointSampler(server.url, "tiny", settings, chat=chat, token_ids=True, policy=HASTY).sample("4321=", 3)
    here = warm_policy.sampler(settings).sample("4321=", 3)
    for there, own in zip(sampled.trajectories, here.trajectories, strict=True):
        assert (there.response, there.tokens.ids) == (own.response, own.tokens.ids)
        assert there.tokens.logprobs == pytest.approx(own.tokens.logprobs)
    assert sampled.prompt_ids == here.prompt_ids


def test_log_probabilities_of_another_temperature_are_not_kept(server):
    settings = SamplingSettings(max_new_tokens=6, temperature=0.5)
    sampled = EndpointSampler(server.url, "tiny", settings, token_ids=True, policy=HASTY).sample("4321=")
    assert sampled.trajectories[0].tokens.logprobs is None


def test_a_request_to_a_busy_server_is_retried(server):
    server.failures = [503, 429]
    assert len(EndpointSampler(server.url, "tiny", policy=HASTY).sample("21=")) == 1
    assert len(server.asked) == 3


def test_a_server_that_gives_fewer_samples_is_called_again_for_the_rest(server):
    server.at_most = 2
    settings = SamplingSettings(max_new_tokens=6, seed=1)
    sampled = EndpointSampler(server.url, "tiny", settings, policy=HASTY).sample("21=", 5)
    assert len(sampled) == 5
    assert [(asked["n"], asked["seed"]) for _, asked, _ in server.asked] == [(5, 1), (3, 3), (1, 5)]


@pytest.mark.parametrize(
    ("failures", "words", "tries"),
    [([500] * 9, "after 3 tries: HTTP 500", 3), ([404], "HTTP 404: .*no", 1)],
    ids=["down", "refused"],
)
def test_a_prompt_without_a_response_is_an_error_with_the_reason(server, failures, words, tries):
    server.failures = failures
    with pytest.raises(SamplingFailed, match=f"no response to sample 0 .*{words}"):
        EndpointSampler(server.url, "tiny", policy=HASTY).sample("21=")
    assert len(server.asked) == tries


@pytest.mark.parametrize("body", [b"<html>", b'{"result": 1}', b"[]"], ids=["no JSON", "no choices", "no object"])
def test_an_answer_that_is_no_answer_is_an_error(server, body):
    server.body = body
    with pytest.raises(SamplingFailed, match="no response to sample 0"):
        EndpointSampler(server.url, "tiny", policy=HASTY).sample("21=")


def test_an_empty_list_of_choices_is_an_error(server):
    server.body = b'{"choices": []}'
    with pytest.raises(SamplingFailed, match="gave no response to sample 0"):
        EndpointSampler(server.url, "tiny", policy=HASTY).sample("21=")


def test_nobody_listening_is_tried_again_and_then_an_error():
    with pytest.raises(SamplingFailed, match="after 3 tries: ConnectError"):
        EndpointSampler("http://127.0.0.1:9/v1", "tiny", policy=HASTY).sample("21=")


def test_samples_without_tokens_can_be_trained_on(server):
    policy = tiny_policy(seed=1)
    sampled = EndpointSampler(server.url, "tiny", SamplingSettings(max_new_tokens=6), policy=HASTY).sample("21=", 2)
    batch = policy.batch(sampled)
    assert batch.ids_B_L[0, 0] == policy.tokenizer("2")["input_ids"][0]
    assert policy.logprobs(batch).logprobs_B_T[:, 0].max() < 0


@pytest.mark.parametrize("url", ["", "127.0.0.1:8000", "ftp://x/v1"])
def test_a_url_that_is_none_is_refused(url):
    with pytest.raises(InvalidSettings, match="the url of an endpoint is like"):
        EndpointSampler(url, "tiny")
