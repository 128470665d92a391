"""Messages between a parent and its workers: any output arrives equal, and units go to the worker with the fewest."""

import os
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaudit import RewardOutput, Trajectory
from plaudit.contract.output import Status
from plaudit.engine import Scorer
from plaudit.processes.messages import decode_output, encode_output, pack_outputs, unpack_outputs
from plaudit.processes.worker import _Outgoing

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=20)  # lone surrogates too
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
SCORED = st.builds(
    RewardOutput,
    NUMBERS,
    token_rewards=st.none() | st.lists(NUMBERS, max_size=3),
    metadata=st.dictionaries(TEXTS, PLAIN, max_size=3),
    score=st.none() | st.floats(0.0, 1.0),
    reason=TEXTS,
    token_unit=st.sampled_from(["word", "token"]),
    latency_s=st.none() | NUMBERS,
)
UNSCORED = st.builds(RewardOutput.unscored, st.sampled_from([each for each in Status if each is not Status.OK]), TEXTS)
OUTPUTS = st.recursive(
    SCORED | UNSCORED,
    lambda parts: st.builds(
        RewardOutput, NUMBERS, reason=TEXTS, components=st.dictionaries(TEXTS, parts, min_size=1, max_size=3)
    ),
    max_leaves=4,
)


@given(st.lists(OUTPUTS, max_size=3))
def test_outputs_arrive_equal(outputs):
    assert [decode_output(encode_output(output)) for output in outputs] == outputs
    assert unpack_outputs(pack_outputs(outputs)) == outputs


def test_a_long_message_costs_processor_time_in_proportion_to_its_length():
    (reader, frames), (_, waking) = os.pipe(), os.pipe()
    outgoing, message = _Outgoing(frames, waking), bytes(40 << 20)
    writing = threading.Thread(target=outgoing.write, args=(message,))
    began, left = time.process_time(), len(message)
    writing.start()
    while left > 0:
        left -= len(os.read(reader, 1 << 16))
    writing.join()
    assert time.process_time() - began < 1.5  # 4.8 s if each part that is written copies the rest


@pytest.mark.parametrize("count", [2, 8])
def test_the_units_of_a_small_batch_are_spread_over_the_workers(count):
    def process(response):
        return os.getpid()

    with Scorer(process, workers=2, batch_size=1) as scorer:
        samples = [Trajectory("", str(number)) for number in range(count)]
        assert len({output.reward for output in scorer.score(samples)}) == 2
