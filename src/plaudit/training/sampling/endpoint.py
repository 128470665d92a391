"""Sample from any server that speaks the OpenAI protocol: texts by `/completions`, chat by `/chat/completions`.

Most servers tell no token ids, and then the trajectories carry none. vLLM and SGLang tell them when asked, which
`token_ids=True` does; log-probabilities are kept at temperature 1 only, since servers report those of the plain model.
"""

import json
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from tenacity import Retrying, retry_if_exception, stop_after_attempt

from plaudit.endpoint.channel import Pace, wait_strategy
from plaudit.endpoint.policy import EndpointPolicy
from plaudit.endpoint.transient import fault_of, is_transient
from plaudit.errors import InvalidSettings, SamplingFailed
from plaudit.training.data.prompts import PromptLike, Prompts
from plaudit.training.sampling.sampler import Response, Samples, SamplingSettings, group_responses, sample_prompts
from plaudit.trajectory import Prompt, Tokens, Trajectory

__all__ = ["EndpointSampler"]

MAX_WORDS = 300


@dataclass(frozen=True)
class EndpointSampler:
    """Draws responses from a server: `EndpointSampler("http://127.0.0.1:8000/v1", "my-model")`.

    Calls are bounded, paced and tried again as `policy` says. A prompt that gets no response after that raises
    SamplingFailed: there is nothing to train on, and a made-up response would be scored.
    """

    url: str
    model: str
    settings: SamplingSettings = field(default_factory=SamplingSettings)
    _: KW_ONLY
    policy: EndpointPolicy = field(default_factory=EndpointPolicy)
    api_key: str | None = field(default=None, repr=False)
    chat: bool = False
    """Send texts as a user's chat message too; chat messages always go to the chat endpoint."""
    token_ids: bool = False
    """Ask for token ids and log-probabilities, as vLLM and SGLang give them."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """More fields for every request."""
    _pace: Pace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise InvalidSettings(f"the url must be like 'http://127.0.0.1:8000/v1', got {self.url!r}")
        object.__setattr__(self, "_pace", Pace(self.policy.per_second, time.monotonic))

    def sample(
        self,
        batch: PromptLike | Iterable[PromptLike],
        num_samples: int = 1,
        *,
        settings: SamplingSettings | None = None,
    ) -> Samples:
        """`num_samples` responses for each prompt; prompts are asked for side by side."""
        return sample_prompts(self._sample, batch, num_samples, settings or self.settings)

    def _sample(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        pool = ThreadPoolExecutor(min(self.policy.concurrency, len(prompts)))
        try:
            waiting = [
                pool.submit(self._answers, place, row, num_samples, settings) for place, row in enumerate(prompts)
            ]
            answers = [each.result() for each in waiting]
        finally:
            pool.shutdown(cancel_futures=True)
        prompt_ids = [each.prompt_ids for each in answers]
        known = [ids for ids in prompt_ids if ids is not None]
        return group_responses(
            prompts, [each.responses for each in answers], known if len(known) == len(prompt_ids) else None
        )

    def _answers(self, place: int, row: Trajectory, num_samples: int, settings: SamplingSettings) -> "_Answers":
        """All samples of one prompt; a server that gives fewer than it was asked for is asked again."""
        answers = _Answers([], None)
        while missing := num_samples - len(answers.responses):
            body = self._body(row.prompt, missing, settings, drawn=len(answers.responses))
            more = _read(self._send(row.label(place), row.prompt, body), settings)
            if not more.responses:
                raise SamplingFailed(f"{self.url} gave no response to {row.label(place)}")
            answers = _Answers([*answers.responses, *more.responses[:missing]], more.prompt_ids)
        return answers

    def _body(self, prompt: Prompt, count: int, settings: SamplingSettings, *, drawn: int) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "n": count,
            "max_tokens": settings.max_new_tokens,
            "temperature": settings.temperature,
            "top_p": settings.top_p,
        }
        if settings.top_k:
            body["top_k"] = settings.top_k  # not of OpenAI, but of every server for open models, as are the next two
        if settings.min_p:
            body["min_p"] = settings.min_p
        if settings.repetition_penalty != 1.0:
            body["repetition_penalty"] = settings.repetition_penalty
        if settings.stop:
            body["stop"] = list(settings.stop)
        if settings.seed is not None:
            body["seed"] = settings.seed + drawn
        is_chat = self._is_chat(prompt)
        if self.token_ids:
            body |= {"return_token_ids": True, "logprobs": True if is_chat else 1}
        messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
        return {**body, **({"messages": messages} if is_chat else {"prompt": prompt}), **self.extra}

    def _is_chat(self, prompt: Prompt) -> bool:
        return self.chat or not isinstance(prompt, str)

    def _send(self, name: str, prompt: Prompt, body: dict[str, Any]) -> dict[str, Any]:
        path = "/chat/completions" if self._is_chat(prompt) else "/completions"
        retrying = Retrying(
            stop=stop_after_attempt(self.policy.tries),
            wait=wait_strategy(self.policy),
            retry=retry_if_exception(is_transient),
            reraise=True,
        )
        try:
            answer: dict[str, Any] = retrying(self._attempt, self.url.rstrip("/") + path, body)
        except (_Refused, OSError, ValueError) as error:
            fault = fault_of(error)
            tried = f" after {self.policy.tries} tries" if fault else ""
            words = fault.words if fault else f"{type(error).__name__.lstrip('_')}: {error}"
            raise SamplingFailed(f"no response to {name} from {self.url}{tried}: {words}") from error
        return answer

    def _attempt(self, url: str, body: dict[str, Any]) -> dict[str, Any]:
        if wait_s := self._pace.reserve():
            time.sleep(wait_s)
        headers = {"Content-Type": "application/json"}
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key}"
        request = Request(url, json.dumps(body).encode(), headers)
        try:
            with _OPENER.open(request, timeout=self.policy.attempt_s) as answer:
                answer_json = json.load(answer)
        except HTTPError as error:
            with error:  # it holds the connection open
                raise _Refused(error) from None
        except URLError as error:  # a wrapper that hides whether trying again may help
            raise error.reason if isinstance(error.reason, OSError) else error from error
        if not isinstance(answer_json, dict) or not isinstance(answer_json.get("choices"), list):
            raise ValueError(f"the answer holds no 'choices': {str(answer_json)[:MAX_WORDS]}")
        return answer_json


_OPENER: OpenerDirector = build_opener(ProxyHandler({}))  # the environment is not ours to read


class _Refused(Exception):
    """An answer with an error status; it carries what tells whether trying again may help."""

    def __init__(self, error: HTTPError) -> None:
        said = error.read(MAX_WORDS).decode(errors="replace")
        super().__init__(f"HTTP {error.code} {error.reason}: {said}")
        self.status, self.headers = error.code, dict(error.headers)


@dataclass(frozen=True, slots=True)
class _Answers:
    """The responses to one prompt, and its token ids if the server returns them."""

    responses: list[Response]
    prompt_ids: list[int] | None


def _read(answer_json: dict[str, Any], settings: SamplingSettings) -> _Answers:
    responses = [_response(choice, settings) for choice in answer_json["choices"]]
    first: Any = answer_json["choices"][0] if answer_json["choices"] else {}
    return _Answers(responses, first.get("prompt_token_ids") or answer_json.get("prompt_token_ids"))


def _response(choice: dict[str, Any], settings: SamplingSettings) -> Response:
    message = choice.get("message")
    text = choice.get("text") if message is None else message.get("content")
    ids = choice.get("token_ids")
    logprobs = _logprobs(choice.get("logprobs"), settings)
    if ids is None:
        tokens = None
    else:
        fitting = logprobs if logprobs is not None and len(logprobs) == len(ids) else None
        tokens = Tokens(ids=list(ids), logprobs=fitting, mask=[1] * len(ids))
    return Response(text or "", tokens, "length" if choice.get("finish_reason") == "length" else "stop")


def _logprobs(answer_json: Any, settings: SamplingSettings) -> list[float] | None:
    """Log-probabilities in the words of either protocol, where they are those of the temperature sampled at."""
    if not answer_json or settings.temperature != 1.0:
        return None
    if answer_json.get("content") is not None:
        return [float(token["logprob"]) for token in answer_json["content"]]
    return [float(value) for value in answer_json["token_logprobs"]] if answer_json.get("token_logprobs") else None
