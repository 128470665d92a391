"""Where a config trains: in plaudit's own loop, or in TRL's.

An engine is a module with a function `train(config, start)`; it is imported when it is used, since each needs packages
that the others do not.
"""

import importlib
from collections.abc import Callable
from typing import NamedTuple

from plaudit.contract.function import Rewarding
from plaudit.errors import require
from plaudit.training.config.schema import RunConfig
from plaudit.training.outcome import Outcome
from plaudit.training.start import Start
from plaudit.training.watching import Silence, Watch

__all__ = ["ENGINES", "train"]


class _Engine(NamedTuple):
    module: str
    packages: tuple[str, ...]
    extra: str


ENGINES: dict[str, _Engine] = {
    "local": _Engine("plaudit.training.loop", ("torch", "transformers"), "train"),
    "trl": _Engine("plaudit.training.engines.trl", ("torch", "transformers", "trl"), "trl"),
}


def train(
    config: RunConfig,
    *,
    reward: Rewarding | None = None,
    resume: bool = False,
    overwrite: bool = False,
    watch: Watch | None = None,
) -> Outcome:
    """Train a policy as the config says, with the engine it names; everything about the run is in `config.output_dir`.

    `reward` takes the place of the config's reward. `resume` goes on from the newest checkpoint, or begins where there
    is none; `overwrite` replaces a run that is in the folder.
    """
    engine = ENGINES[config.engine]
    for package in engine.packages:
        require(package, extra=engine.extra, purpose=f"training (engine: {config.engine})")
    begin: Callable[[RunConfig, Start], Outcome] = importlib.import_module(engine.module).train
    return begin(config, Start(reward, resume, overwrite, watch or Silence()))
