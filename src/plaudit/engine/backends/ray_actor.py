"""The actor that scores on a Ray node: a process backend with one worker.

The reward runs in the worker process only, so deadlines, memory limits, crashes and their messages are those of the
processes backend, and a reward that crashes does not end the actor.
"""

import os
import sys
from dataclasses import replace

from plaudit.engine.backends.backend import BackendSettings, Limits
from plaudit.engine.backends.processes import ProcessBackend
from plaudit.engine.shipping import Shipment

__all__ = ["ScoringActor", "use_driver_paths"]


def use_driver_paths(shipment: Shipment, folder: str) -> Shipment:
    """Use the driver's working folder and import path in this process, as far as this node has them."""
    if os.path.isdir(folder):
        os.chdir(folder)
    shared = [os.path.abspath(entry) for entry in shipment.search_path]
    sys.path[:] = dict.fromkeys([*filter(os.path.exists, shared), *sys.path])
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path)  # for worker processes
    return replace(shipment, search_path=list(sys.path))


class ScoringActor:
    """Scores units, one call after the other. Samples and outputs are packed, since Ray's pickling takes longer."""

    def __init__(self, shipment: Shipment, limits: Limits, folder: str) -> None:
        self._backend = ProcessBackend(use_driver_paths(shipment, folder), BackendSettings(1, limits))

    def ready(self) -> None:
        """Returns once the actor runs."""

    def score(self, body: bytes, count: int) -> bytes:
        """The packed outputs of packed samples."""
        return self._backend.score_packed(body, count)

    def close(self) -> None:
        """End the worker process and what it started."""
        self._backend.shutdown()
