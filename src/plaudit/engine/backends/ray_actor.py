"""What runs on a Ray node: an actor with one worker process, which it watches as the processes backend does.

The reward lives in the worker process only. Deadlines, memory limits, crashes and their words are therefore those of
the processes backend, and a reward that dies takes no actor with it.
"""

import os
import pickle
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plaudit.contract.output import RewardOutput
from plaudit.engine.backends.backend import BackendSettings, Limits
from plaudit.engine.backends.messages import Answers, encode_answer
from plaudit.engine.backends.processes import ProcessBackend
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import Unit
from plaudit.errors import PlauditError
from plaudit.trajectory import Trajectory

__all__ = ["Answer", "ScoringActor", "decode_answer", "encode_units", "follow_driver"]

TURN_S = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Outputs with their places in a call, and how long they took; or the error that ends the run."""

    places: list[int]
    outputs: list[RewardOutput]
    seconds: float
    error: PlauditError | None = None


def follow_driver(shipment: Shipment, folder: str) -> Shipment:
    """Make this process find what the driver finds, as far as this node has it; gives the shipment to open here."""
    if os.path.isdir(folder):
        os.chdir(folder)
    shared = [os.path.abspath(entry) for entry in shipment.search_path]
    sys.path[:] = dict.fromkeys([*(entry for entry in shared if os.path.exists(entry)), *sys.path])
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # for worker processes, which look for plaudit first
    return replace(shipment, search_path=list(sys.path))


class ScoringActor:
    """Scores units of work, one call after the other."""

    def __init__(self, shipment: Shipment, limits: Limits, by_sample: bool, folder: str) -> None:
        self._pool = ProcessBackend(follow_driver(shipment, folder), BackendSettings(1, limits, by_sample))

    def score(self, call: bytes) -> bytes:
        """The answer to a call, encoded: Ray's own pickling takes several times as long."""
        answer = self._answer(_decode_units(call))
        outputs = b"".join(map(encode_answer, answer.outputs))
        return pickle.dumps((answer.places, outputs, answer.seconds, answer.error), pickle.HIGHEST_PROTOCOL)

    def close(self) -> None:
        """End the worker process and what it started."""
        self._pool.shutdown()

    def _answer(self, units: deque[Unit]) -> Answer:
        began, count = time.monotonic(), sum(map(len, units))
        places: list[int] = []
        outputs: list[RewardOutput] = []
        try:
            while len(outputs) < count:
                while units and self._pool.wants_more(0, 0):
                    self._pool.submit(units.popleft())
                for result in self._pool.collect(TURN_S):
                    places += result.places
                    outputs += result.outputs
        except PlauditError as error:
            return Answer([], [], 0.0, error)
        return Answer(places, outputs, time.monotonic() - began)


def encode_units(units: Sequence[Unit]) -> bytes:
    """Units as `ScoringActor.score` takes them; their samples are numbered within the call."""
    return pickle.dumps([(unit.trajectories, unit.whole) for unit in units], pickle.HIGHEST_PROTOCOL)


def _decode_units(call: bytes) -> deque[Unit]:
    units: deque[Unit] = deque()
    place = 0
    trajectories: list[Trajectory]
    for trajectories, whole in pickle.loads(call):
        units.append(Unit(range(place, place + len(trajectories)), trajectories, whole))
        place += len(trajectories)
    return units


def decode_answer(answer: bytes) -> Answer:
    """The answer that `ScoringActor.score` gave."""
    places, outputs, seconds, error = pickle.loads(answer)
    return Answer(places, Answers().feed(outputs), seconds, error)
