"""Models as rewards: how much faster many samples at once are than one by one.

Run from the repository: `python benchmarks/models.py judges [SAMPLES]`, or `classifiers [SAMPLES]` (32 is a short run).

judges: a judge stands behind a server of its own process that takes 50 ms for an answer; the peer is the same judge
with one call at a time.

classifiers: a sentiment classifier as `PipelineReward`; the peer is the loop of document 000, one pipeline call for
each response. Both take turns in one process with one thread, in CPU time; the figures are medians. A CPU that is busy
with arithmetic gains nothing from batches: texts of three lengths and models of three sizes show where that begins.
The document's own model, which a pipeline takes where none is named, is the last one. "At most" is what the ratio would
be if nothing but the products of weights and tokens took time, as fast as this CPU multiplies large matrices.
"""

import asyncio
import json
import multiprocessing
import random
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch
import transformers

from plaudit import Trajectory, score
from plaudit.judges import ChatEndpoint, LLMJudge
from plaudit.models import PipelineReward
from plaudit.models.locating import locate_model

LATENCY_S = 0.05
IN_FLIGHT = 32
MOST_CHARACTERS = 512  # of a response that the document's loop shows its model
ROUNDS = 3
DEFAULT_SAMPLES = {"judges": 1024, "classifiers": 256}
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "warm",
    "mat",
    "and",
    "slept",
    "until",
    "noon",
    "while",
    "rain",
    "fell",
    "over",
]
LENGTHS = {"5-15 words": (5, 15), "15-45 words": (15, 45), "50-100 words": (50, 100)}
MODELS = {
    "small BERT (4 million weights)": (transformers.BertConfig, {"layers": 2, "width": 128, "heads": 2}),
    "all-MiniLM-L6 (23 million)": (transformers.BertConfig, {"layers": 6, "width": 384, "heads": 12}),
    "DistilBERT (67 million), the document's": (
        transformers.DistilBertConfig,
        {"layers": 6, "width": 768, "heads": 12},
    ),
}
CODE = re.compile(rb"tags that end in -(\w+)")


def measure_judges(samples: int) -> None:
    """Calls a second of one judge, with 32 calls under way and with one."""
    with _Server() as url:
        rates = {at_once: [_rate(url, at_once, samples) for _ in range(ROUNDS)] for at_once in (1, IN_FLIGHT)}
    for at_once, found in rates.items():
        rate, processor_s = (statistics.median(column) for column in zip(*found, strict=True))
        print(
            f"{at_once:>3} under way: {rate:7.1f} verdicts a second, {1000 * processor_s:.2f} ms of processor time each"
        )
    ratio = statistics.median(rate for rate, _ in rates[IN_FLIGHT]) / statistics.median(rate for rate, _ in rates[1])
    print(f"ratio: {ratio:.1f} (at {LATENCY_S * 1000:.0f} ms an answer)")


def _rate(url: str, at_once: int, samples: int) -> tuple[float, float]:
    """Verdicts a second, and the seconds of processor time that each took here."""
    judge = LLMJudge(ChatEndpoint(url, "judge", policy={"concurrency": at_once}))
    count = samples if at_once > 1 else max(8, samples // IN_FLIGHT)
    trajectories = [Trajectory("What is 2 + 2?", f"It is {number}.") for number in range(count)]
    began, processor = time.perf_counter(), time.process_time()
    outputs = score(judge, trajectories)
    seconds, processor_s = time.perf_counter() - began, time.process_time() - processor
    assert all(output.ok for output in outputs), outputs[0].reason
    return count / seconds, processor_s / count


def measure_classifiers(samples: int) -> None:
    """Responses a second of one classifier, in batches and in a loop over single calls."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    draw = random.Random(0)
    torch.set_num_threads(1)
    rate = _multiply()
    print(f"milliseconds of CPU time a response; large matrices at {rate / 1e9:.0f} billion operations a second")
    with tempfile.TemporaryDirectory() as folder:
        for name, (config, shape) in MODELS.items():
            _save_classifier(folder, config, **shape)
            reward, loop = PipelineReward(folder), transformers.pipeline("sentiment-analysis", model=folder)
            a_token_s = 2 * 12 * shape["layers"] * shape["width"] ** 2 / rate
            for size, (least, most) in LENGTHS.items():
                texts = [" ".join(draw.choices(WORDS, k=draw.randint(least, most))) for _ in range(samples)]
                _compare(f"{name}, {size}", reward, loop, texts, a_token_s)


def _compare(name: str, reward: PipelineReward, loop: Callable[[str], Any], texts: list[str], a_token_s: float) -> None:
    trajectories = [Trajectory("How was it?", text[:MOST_CHARACTERS]) for text in texts]
    times: dict[str, list[float]] = {"loop": [], "batches": []}
    score(reward, trajectories[:2]), loop(texts[0])
    for _ in range(ROUNDS):
        began = time.process_time()
        for text in texts:
            loop(text[:MOST_CHARACTERS])
        between = time.process_time()
        outputs = score(reward, trajectories)
        times["loop"].append(between - began)
        times["batches"].append(time.process_time() - between)
    singly, batched = (1000 * statistics.median(times[each]) / len(texts) for each in times)
    least = 1000 * a_token_s * statistics.fmean(output.metadata["tokens"] for output in outputs)
    print(
        f"{name:>54}: {singly:6.2f} in a loop, {batched:6.2f} in batches, ratio {singly / batched:4.1f}, "
        f"at most {singly / least:5.1f}",
        flush=True,
    )


def _multiply() -> float:
    """How many operations a second of CPU time a product of large matrices gets."""
    tokens, weights = torch.randn(1024, 768), torch.randn(768, 3072)
    times = []
    for _ in range(10):
        began = time.process_time()
        tokens @ weights
        times.append(time.process_time() - began)
    return 2 * 1024 * 768 * 3072 / statistics.median(times)


def _save_classifier(folder: str, config: Callable[..., Any], *, layers: int, width: int, heads: int) -> None:
    """A classifier with weights by chance, which are as quick as any, and the tokenizer of all-MiniLM-L6-v2."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(locate_model("minilm", purpose="a benchmark").path)
    settings = config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        id2label={0: "NEGATIVE", 1: "POSITIVE"},
        label2id={"NEGATIVE": 0, "POSITIVE": 1},
        **({"hidden_dim": 4 * width} if config is transformers.DistilBertConfig else {"intermediate_size": 4 * width}),
    )
    transformers.AutoModelForSequenceClassification.from_config(settings).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


class _Server:
    """A chat server in a process of its own."""

    def __enter__(self) -> str:
        here, there = multiprocessing.get_context("spawn").Pipe()
        self._process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there,), daemon=True)
        self._process.start()
        return f"http://127.0.0.1:{here.recv()}/v1"

    def __exit__(self, *error: object) -> None:
        self._process.terminate()
        self._process.join()


def _serve(parent: Connection) -> None:
    async def run() -> None:
        server = await asyncio.start_server(_converse, "127.0.0.1", 0, backlog=256)
        parent.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def _converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection, each after the latency."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            asked = await reader.readexactly(int(length[1]) if length else 0)
            await asyncio.sleep(LATENCY_S)
            code = CODE.search(asked)
            verdict = json.dumps({"code": code[1].decode() if code else "", "reasoning": "so", "score": 7})
            message = {"role": "assistant", "content": verdict}
            body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


MEASUREMENTS: dict[str, Callable[[int], None]] = {"judges": measure_judges, "classifiers": measure_classifiers}


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else "judges"
    MEASUREMENTS[wanted](int(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT_SAMPLES[wanted])
