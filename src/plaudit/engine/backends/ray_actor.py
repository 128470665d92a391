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
from typing import cast

from plaudit.contract.output import RewardOutput
from plaudit.engine.backends.processes import ProcessBackend
from plaudit.engine.backends.wire import Frames, packed_output
from plaudit.engine.shipping import Shipment
from plaudit.engine.stream import Supply
from plaudit.engine.unit import Limits, Unit
from plaudit.errors import PlauditError

__all__ = ["Answer", "ScoringActor", "packed_units", "settled", "unpacked_answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a call: outputs and how long they took, or the error that ends the run."""

    places: list[int]
    outputs: list[RewardOutput]
    seconds: float
    error: PlauditError | None = None


def settled(shipment: Shipment, folder: str) -> Shipment:
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
        self._pool = ProcessBackend(settled(shipment, folder), 1, limits, by_sample=by_sample)

    def score(self, packed: bytes) -> bytes:
        """The answer to a call, packed: Ray's own pickling takes several times as long."""
        answer = self._answer(pickle.loads(packed))
        outputs = b"".join(map(packed_output, answer.outputs))
        return pickle.dumps((answer.places, outputs, answer.seconds, answer.error), pickle.HIGHEST_PROTOCOL)

    def close(self) -> None:
        """End the worker process and what it started."""
        self._pool.shutdown()

    def _answer(self, units: list[Unit]) -> Answer:
        began = time.monotonic()
        places: list[int] = []
        outputs: list[RewardOutput] = []
        try:
            for done in self._pool.run(cast(Supply, _Handed(units))):  # it asks nothing else of a supply
                places += done.places
                outputs += done.outputs
        except PlauditError as error:
            return Answer([], [], 0.0, error)
        return Answer(places, outputs, time.monotonic() - began)


def packed_units(units: Sequence[Unit]) -> bytes:
    """Units as `ScoringActor.score` takes them."""
    return pickle.dumps(list(units), pickle.HIGHEST_PROTOCOL)


def unpacked_answer(packed: bytes) -> Answer:
    """The answer that `ScoringActor.score` gave."""
    places, outputs, seconds, error = pickle.loads(packed)
    return Answer(places, Frames().feed(outputs), seconds, error)


class _Handed:
    """The units of one call, as a supply."""

    def __init__(self, units: list[Unit]) -> None:
        self._units = deque(units)

    @property
    def exhausted(self) -> bool:
        return not self._units

    def take(self) -> Unit | None:
        return self._units.popleft() if self._units else None
