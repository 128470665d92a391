"""Samplers of models that run elsewhere: a server with the OpenAI protocol, or a vLLM engine.

Texts are sent to `/completions`, chat messages to `/chat/completions`. Most servers return no token ids, and then the
trajectories have none. vLLM and SGLang return them if the request asks for them (`token_ids=True`). Log-probabilities
are kept at temperature 1 only, since servers report those of temperature 1. A vLLM engine has its own copy of the
weights: it does not follow a policy that is being trained in this process.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Any

from plaudit.contract.event_loop import run_awaitable
from plaudit.endpoint.channel import CallFailed
from plaudit.endpoint.http_client import HttpClient, ModelServer
from plaudit.endpoint.transient import HttpRefusal
from plaudit.errors import InvalidSettings, SamplingFailed, require
from plaudit.training.config.schema import SamplingSettings
from plaudit.training.data.prompts import Prompts
from plaudit.training.sampling.encoding import encode_prompts, find_offsets
from plaudit.training.sampling.sampler import Response, Sampler, Samples, group_responses
from plaudit.trajectory import Prompt, Tokens, Trajectory

MAX_CHARACTERS = 300


@dataclass(frozen=True, eq=False)
class EndpointSampler(ModelServer, Sampler):
    """Draws responses from a server: `EndpointSampler("http://127.0.0.1:8000/v1", "my-model")`.

    A prompt that gets no response after all tries of the policy raises SamplingFailed, since an invented response would
    be scored.
    """

    settings: SamplingSettings = field(default_factory=SamplingSettings)
    _: KW_ONLY
    chat: bool = False
    """Send texts as a user's chat message too; chat messages always go to the chat endpoint."""
    token_ids: bool = False
    """Ask for token ids and log-probabilities, as vLLM and SGLang give them."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """More fields for every request."""

    def draw(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        """`num_samples` responses for each prompt; requests for several prompts run concurrently."""
        answers = run_awaitable(self._answer_all(prompts, num_samples, settings))
        prompt_ids = [each.prompt_ids for each in answers]
        known = [ids for ids in prompt_ids if ids is not None]
        return group_responses(
            prompts, [each.responses for each in answers], known if len(known) == len(prompt_ids) else None
        )

    async def _answer_all(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> "list[_Answers]":
        """The samples of all prompts; the first failure ends the other calls."""
        client = HttpClient(self.url, self.read_key(), purpose=f"sampling from {self.url}")
        tasks = [
            asyncio.ensure_future(self._answer(client, index, row, num_samples, settings))
            for index, row in enumerate(prompts)
        ]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await client.close()

    async def _answer(
        self, client: HttpClient, index: int, row: Trajectory, num_samples: int, settings: SamplingSettings
    ) -> "_Answers":
        """All samples of one prompt; if a server returns too few, it is called again for the rest."""
        answers = _Answers([], None)
        while missing := num_samples - len(answers.responses):
            body = self._body(row.prompt, missing, settings, drawn=len(answers.responses))
            more = _read(await self._send(client, row.label(index), row.prompt, body), settings)
            if not more.responses:
                raise SamplingFailed(f"{self.url} gave no response to {row.label(index)}")
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
        if settings.top_k:  # this and min_p are not in OpenAI's protocol; servers for open models have them
            body["top_k"] = settings.top_k
        if settings.min_p:
            body["min_p"] = settings.min_p
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

    async def _send(self, client: HttpClient, name: str, prompt: Prompt, body: dict[str, Any]) -> dict[str, Any]:
        path = "/chat/completions" if self._is_chat(prompt) else "/completions"
        try:
            sent = await self.channel.send(partial(_post, client, path, body))
        except (CallFailed, HttpRefusal, ValueError) as error:
            raise SamplingFailed(f"no response to {name} from {self.url}: {error}") from error
        return sent.value


async def _post(client: HttpClient, path: str, body: dict[str, Any]) -> dict[str, Any]:
    answer = json.loads(await client.post(path, body))
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        raise ValueError(f"the answer holds no 'choices': {str(answer)[:MAX_CHARACTERS]}")
    return answer


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
    """Log-probabilities in the form of either protocol; None at other temperatures than 1."""
    if not answer_json or settings.temperature != 1.0:
        return None
    if answer_json.get("content") is not None:
        return [float(token["logprob"]) for token in answer_json["content"]]
    return [float(value) for value in answer_json["token_logprobs"]] if answer_json.get("token_logprobs") else None


class VLLMSampler(Sampler):
    """Draws responses from a vLLM engine.

    `engine` is a `vllm.LLM`, or what its constructor takes is given in `options`. Log-probabilities are asked for at
    the sampling temperature (`logprobs_mode="processed_logprobs"`); with top-k, top-p or min-p
    these are those of another distribution, and are left out.
    """

    def __init__(
        self,
        model: str | None = None,
        settings: SamplingSettings | None = None,
        *,
        engine: Any = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        if (model is None) == (engine is None):
            raise InvalidSettings("give either the model that vLLM is to load, or an engine that has loaded one")
        self._vllm = require("vllm", package="vllm", purpose="sampling with vLLM")
        self.settings = settings or SamplingSettings()
        self.engine = engine or self._vllm.LLM(
            model=model, **{"logprobs_mode": "processed_logprobs", **(options or {})}
        )
        self.tokenizer = self.engine.get_tokenizer()

    def draw(self, prompts: Prompts, num_samples: int, settings: SamplingSettings) -> Samples:
        """`num_samples` responses for each prompt, with token ids and log-probabilities."""
        prompt_ids = encode_prompts(self.tokenizer, prompts.prompts)
        answers = self.engine.generate(
            [{"prompt_token_ids": ids} for ids in prompt_ids],
            self._vllm.SamplingParams(**_parameters(settings, num_samples)),
            use_tqdm=False,
        )
        responses = [[self._response(output, settings) for output in answer.outputs] for answer in answers]
        return group_responses(prompts, responses, prompt_ids)

    def _response(self, output: Any, settings: SamplingSettings) -> Response:
        ids = list(output.token_ids)
        logprobs = None
        if output.logprobs is not None and settings.draws_from_model:
            logprobs = [float(step[token].logprob) for token, step in zip(ids, output.logprobs, strict=True)]
        offsets = find_offsets(self.tokenizer, [ids], [output.text])[0]
        tokens = Tokens(ids=ids, offsets=offsets, logprobs=logprobs, mask=[1] * len(ids))
        return Response(output.text, tokens, output.finish_reason or "stop")


def _parameters(settings: SamplingSettings, num_samples: int) -> dict[str, Any]:
    return {
        "n": num_samples,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "top_k": settings.top_k,
        "min_p": settings.min_p,
        "max_tokens": settings.max_new_tokens,
        "seed": settings.seed,
        "stop": list(settings.stop) or None,
        "include_stop_str_in_output": True,
        "logprobs": 0,
    }
