"""The logs of a run besides metrics.jsonl: TensorBoard and Weights & Biases.

A log writer gets all numbers of a step in one call, under their names in metrics.jsonl.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from plaudit.errors import InvalidSettings, require
from plaudit.training.config.schema import RunConfig


@dataclass(frozen=True, slots=True)
class RunName:
    """The name of a run in the logs, its folder, and its config.

    `first_step` is the step a resumed run continues at: what was logged from there on before is replaced where the log
    can do that (TensorBoard); W&B gets another run in the same group.
    """

    folder: Path
    project: str = "plaudit"
    name: str | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    first_step: int = 0

    @property
    def label(self) -> str:
        return self.name or self.folder.name


class TensorBoardWriter:
    """Event files in `<folder>/tensorboard`: `tensorboard --logdir <folder>`."""

    def __init__(self, run: RunName) -> None:
        require("tensorboard", extra="logs", purpose="logging to TensorBoard")
        board = require("torch.utils.tensorboard", extra="train", purpose="logging to TensorBoard")
        self._writer = board.SummaryWriter(str(run.folder / "tensorboard"), purge_step=run.first_step or None)

    def log(self, step: int, metrics: Mapping[str, Any]) -> None:
        for name, value in _numbers(metrics).items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


LOGIN = "check the network, run `wandb login`, or set WANDB_MODE=offline"


class WandbWriter:
    """A run at Weights & Biases, or in `<folder>/wandb` where WANDB_MODE is offline."""

    def __init__(self, run: RunName) -> None:
        wandb = require("wandb", extra="logs", purpose="logging to Weights & Biases")
        run.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._run = wandb.init(
                project=run.project,
                name=run.label,
                group=run.label,
                dir=str(run.folder),
                config=dict(run.config),
                reinit="create_new",  # other runs of this process are not affected
            )
        except (wandb.Error, OSError) as error:
            raise _unreachable(error) from error

    def log(self, step: int, metrics: Mapping[str, Any]) -> None:
        self._run.log(_numbers(metrics), step=step)

    def close(self) -> None:
        self._run.finish()


LOG_WRITERS: dict[str, type[TensorBoardWriter | WandbWriter]] = {
    "tensorboard": TensorBoardWriter,
    "wandb": WandbWriter,
}


def check_logs(config: RunConfig) -> None:
    """Raise an error for a log of the config whose package is not installed, or without a login."""
    for name in LOG_WRITERS:
        if getattr(config.logging, name):
            package = require(name, extra="logs", purpose=f"logging.{name}=true")
            if name == "wandb" and os.environ.get("WANDB_MODE", "online") == "online":
                _check_login(package)


def _check_login(wandb: Any) -> None:
    try:
        logged_in = wandb.login(prompt=False)
    except TypeError:  # old versions cannot check the login without opening a run
        return
    except (wandb.Error, OSError) as error:
        raise _unreachable(error) from error
    if not logged_in:
        raise InvalidSettings(f"logging.wandb=true: nobody is logged in to Weights & Biases; {LOGIN}")


def _unreachable(error: Exception) -> InvalidSettings:
    """An error for an invalid API key or a missing network, which the user can fix."""
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return InvalidSettings(f"logging.wandb=true: cannot log in to Weights & Biases ({reason:.160}); {LOGIN}")


def _numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    """The metrics that are numbers, without the step."""
    return {name: float(value) for name, value in metrics.items() if isinstance(value, int | float) and name != "step"}
