"""The service of the server's workers: read a request, score its samples, write the answer."""

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plaudit.calibration import require_certificates
from plaudit.contract.contents import copies_of
from plaudit.contract.output import RewardOutput
from plaudit.contract.scoring import scope_of, score_samples
from plaudit.engine import reward_key
from plaudit.engine.reward_service import RewardHandler, RewardService
from plaudit.engine.shipping import Shipment
from plaudit.processes.worker import Service, UnitProgress
from plaudit.serving.protocols import PROTOCOLS
from plaudit.serving.protocols.protocol import (
    About,
    Answer,
    RequestRefused,
    Samples,
    WorkerRequest,
    encode_answer,
    read_request,
    refusal_body,
)
from plaudit.version import __version__

__all__ = ["HttpHandler", "RewardSetup", "Service"]

logger = logging.getLogger("plaudit.serving")


@dataclass(frozen=True, slots=True)
class RewardSetup(Service):
    """A reward to be served under a name."""

    name: str
    shipment: Shipment
    most_samples: int
    on_unscored: str
    judge_certificates: tuple[Path, ...] = ()

    def preload(self) -> None:
        self.shipment.preload()

    def describe(self, handler: "HttpHandler") -> dict[str, Any]:
        return handler.describe()

    def open(self) -> "HttpHandler":
        opened = RewardService(self.shipment).open()
        if self.judge_certificates:
            require_certificates(opened.reward, self.judge_certificates)
        return HttpHandler(opened, self)


class HttpHandler:
    """Answers requests in the protocols of trainers with one reward."""

    def __init__(self, handler: RewardHandler, setup: RewardSetup) -> None:
        self._handler, self._most_samples = handler, setup.most_samples
        self.in_order = handler.in_order
        self._about = About(setup.name, reward_key(handler.reward), __version__, setup.on_unscored)

    def __call__(self, body: bytes, progress: UnitProgress) -> bytes:
        return encode_answer(self._answer(read_request(body), progress))

    def describe(self) -> dict[str, Any]:
        """The server's description of the reward."""
        reward: Any = self._handler.reward
        return {
            "name": self._about.name,
            "reward": reward.name,
            "key": self._about.key,
            "version": __version__,
            "scope": scope_of(reward),
            "max_batch": reward.max_batch,
            "bounds": reward.bounds,
            "deterministic": reward.deterministic,
            "copies": copies_of(reward),
            "protocols": list(PROTOCOLS),
            "about": reward.__doc__ if type(reward.__doc__) is str else "",
        }

    def _answer(self, request: WorkerRequest, progress: UnitProgress) -> Answer:
        step = "read"
        try:
            samples = PROTOCOLS[request.protocol].read(request.body, packed=request.packed)
            count = len(samples.trajectories)
            if count > self._most_samples:
                raise RequestRefused(413, f"{count} samples in one request; at most {self._most_samples} are taken")
            outputs = samples.merge(self._score(samples.valid(), progress))
            step = "answered"
            return self._write(request, samples, outputs)
        except RequestRefused as refused:
            return Answer(refused.status, refusal_body(str(refused)))
        except Exception as error:  # noqa: BLE001 - a fault of plaudit: the next worker would meet it too
            name = type(error).__name__
            logger.error("a request could not be %s: %s", step, name)
            return Answer(500, refusal_body(f"the request could not be {step}: a fault of the server ({name})"))

    def _score(self, samples: Sequence[Any], progress: UnitProgress) -> Sequence[RewardOutput]:
        if not self.in_order:
            return score_samples(self._handler.reward, samples, progress)
        progress.expect(len(samples))
        return self._handler.score_in_order(samples, progress)

    def _write(self, request: WorkerRequest, samples: Samples, outputs: Sequence[RewardOutput]) -> Answer:
        protocol, packed = PROTOCOLS[request.protocol], request.packed
        counts = {status.value: count for status, count in Counter([output.status for output in outputs]).items()}
        try:
            try:
                body = protocol.write(samples, outputs, self._about, packed=packed)
            except (UnicodeEncodeError, OverflowError):  # a lone surrogate, a number over 64 bits: JSON can hold them
                packed = False
                body = protocol.write(samples, outputs, self._about, packed=packed)
        except RequestRefused as refused:
            return Answer(refused.status, refusal_body(str(refused)), counts)
        return Answer(200, body, counts, packed)
