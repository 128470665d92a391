"""The service of scoring workers: a reward, opened once, that scores packed samples."""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from plaudit.contract.contents import warm_up
from plaudit.contract.failures import describe_failure, passed_on
from plaudit.contract.output import RewardOutput, Status
from plaudit.contract.scoring import Call, calls_one_sample, needs_loop, score_one, score_samples
from plaudit.engine.shipping import Shipment
from plaudit.processes.messages import decode_output, pack_outputs, pack_sample, unpack_outputs, unpack_sample
from plaudit.processes.pool import PoolUnit
from plaudit.processes.worker import Service, UnitProgress
from plaudit.sandbox.cores import take_share
from plaudit.trajectory import Trajectory

READING = (-1,)
"""The path of the calls in which samples are read."""
_NO_SAMPLE = Trajectory("", "")


@dataclass(frozen=True, slots=True)
class RewardService(Service):
    """A reward on its way to a worker."""

    shipment: Shipment

    def preload(self) -> None:
        self.shipment.preload()

    def open(self) -> "RewardHandler":
        take_share(1)  # there is a worker per core already
        reward = self.shipment.open()
        warm_up(reward)
        return RewardHandler(reward)


class RewardHandler:
    """Scores units of packed samples in a worker."""

    def __init__(self, reward: Any) -> None:
        self.reward = reward
        self.in_order = calls_one_sample(reward) and not needs_loop(reward)

    def __call__(self, body: bytes, progress: UnitProgress) -> bytes:
        samples = self._unpack(pickle.loads(body), progress)
        if not self.in_order:
            return pack_outputs(score_samples(self.reward, list(samples), progress))
        self.score_in_order(samples, progress)
        return b""

    def _unpack(self, packed: Sequence[bytes | str], progress: UnitProgress) -> Iterator[Trajectory]:
        """Each sample when it is needed, so that the time counts as its own; not if it was scored before.

        If all samples are read before the first call, and a worker was lost then, each is read as a call of its own.
        """
        path, retried = () if self.in_order else READING, progress.knows_calls
        is_reported = progress.one_at_a_time and not self.in_order
        for index, each in enumerate(packed):
            sample = _NO_SAMPLE
            if isinstance(each, str):
                progress.failed[index] = RewardOutput.unscored(Status.ERROR, each)
            elif retried and (known := progress.known(Call(path, index))):
                progress.failed[index] = known[0]
            else:
                if is_reported:
                    progress.started(Call(path, index))
                try:
                    sample = unpack_sample(each)
                except BaseException as error:  # noqa: BLE001 - see pack_samples
                    failure = describe_failure("reading the sample in a worker", error)
                    reason = f"{failure.reason}; put plain data into its columns and metadata"
                    progress.failed[index] = RewardOutput.unscored(Status.ERROR, reason)
                if is_reported:
                    progress.ended(Call(path, index), [])
            yield sample

    def score_in_order(self, samples: Iterable[Trajectory], progress: UnitProgress) -> list[RewardOutput]:
        """Score one sample after the other, and send each output before the next sample is begun."""
        outputs, retried = [], progress.knows_calls
        for index, sample in enumerate(samples):
            known = progress.known(Call((), index)) if retried else None
            output = known[0] if known else progress.failed.get(index) or score_one(self.reward, sample, progress)
            if known is None:
                progress.send_output(output)
            outputs.append(output)
        return outputs


def pack_samples(samples: Sequence[Trajectory]) -> bytes:
    """Samples in bytes, each packed on its own; a sample that cannot be packed is replaced by the reason."""
    packed: list[bytes | str] = []
    for sample in samples:
        try:
            packed.append(pack_sample(sample))
        except passed_on():
            raise
        except BaseException as error:  # noqa: BLE001 - values of any class refuse in their own way
            reason = f"{_unsendable(sample)}{type(error).__name__}: {error}"[:300]
            packed.append(f"the sample cannot be sent to another process: {reason}; put plain data into it")
    return pickle.dumps(packed, pickle.HIGHEST_PROTOCOL)


def _unsendable(sample: Trajectory) -> str:
    """The name of the column or metadata key whose value cannot be pickled, with a colon."""
    for name, value in {**sample.metadata, **sample.columns}.items():
        try:
            pickle.dumps(value)
        except BaseException:  # noqa: BLE001 - see pack_samples
            return f"{name}: "
    return ""


def outputs_of(unit: PoolUnit) -> list[RewardOutput]:
    """The outputs of a unit that is done."""
    if unit.failure is not None:
        return [unit.failure] * unit.count
    if unit.result:
        return unpack_outputs(unit.result)
    return [decode_output(unit.outputs[index]) for index in range(unit.count)]
