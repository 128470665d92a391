"""The worker pools of a server by the names of their rewards: started together, replaced on reload, ended together."""

import asyncio
import logging
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from plaudit.engine.shipping import Shipment
from plaudit.errors import InvalidSettings, PlauditError
from plaudit.processes.pool import Limits
from plaudit.processes.worker import Service
from plaudit.sandbox import Tier, diagnose
from plaudit.serving.app.metrics import Metrics
from plaudit.serving.app.openapi import PAGES
from plaudit.serving.protocols import PROTOCOLS
from plaudit.serving.protocols.sandbox_fusion import SandboxSetup
from plaudit.serving.settings import ServerSettings
from plaudit.serving.workers.pool import ServicePool
from plaudit.serving.workers.service import RewardSetup

logger = logging.getLogger("plaudit.serving")
SANDBOX_DEADLINE_S = 300.0
WEAK_TIERS = (Tier.NONE, Tier.SECCOMP)
RESERVED = frozenset({*(path.strip("/") for path in PAGES), *PROTOCOLS, "run_code"})


class RewardPools:
    """`current` has the pool of each reward; `on_change` is called when one was added or replaced."""

    def __init__(self, settings: ServerSettings, metrics: Metrics, on_change: Callable[[], None]) -> None:
        self._settings, self._metrics, self._on_change = settings, metrics, on_change
        self._setups = _setups(settings)
        self.current: dict[str, ServicePool] = {}
        self.loading = True
        self._open: set[ServicePool] = set()
        self._tasks: set[asyncio.Task[None]] = set()  # that end replaced pools
        self._reloading: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def descriptions(self) -> dict[str, dict[str, Any]]:
        """The description of each reward, by name."""
        return {name: pool.description for name, pool in self.current.items()}

    async def start(self) -> None:
        """Load every reward; raises where one cannot be served."""
        await self._check_tier()
        names = list(self._setups)
        pools = await asyncio.gather(*(self._start_pool(name) for name in names))
        self.current, self.loading = dict(zip(names, pools, strict=True)), False
        self._on_change()

    async def _check_tier(self) -> None:
        """Raise InvalidSettings if other machines could send programs to a weak sandbox."""
        if self._settings.on_loopback or self._settings.allow_weak_sandbox:
            return
        sandbox = await asyncio.get_running_loop().run_in_executor(None, diagnose)
        if sandbox.tier in WEAK_TIERS or not sandbox.healthy:
            trouble = f" ({sandbox.trouble})" if sandbox.trouble else ""
            raise InvalidSettings(
                f"the sandbox tier here is {sandbox.tier.label!r}{trouble}, and other machines could send programs; "
                "`plaudit doctor` says what is missing, --allow-weak-sandbox serves without it"
            )

    async def _start_pool(self, name: str) -> ServicePool:
        setup = self._setups[name]
        deadline_s = SANDBOX_DEADLINE_S if isinstance(setup, SandboxSetup) else self._settings.deadline_s
        limits = Limits(deadline_s, self._settings.memory_mb)
        pool = ServicePool(setup, self._settings.workers, limits, partial(self._count_loss, name), self._follow_version)
        self._open.add(pool)
        try:
            await pool.start()
        except BaseException:
            await self._end(pool)
            raise
        return pool

    def _count_loss(self, name: str, cause: str) -> None:
        self._metrics.losses[name, cause] += 1

    def _follow_version(self) -> None:
        """If a worker has loaded another version than the served one, reload, unless a reload is running."""
        if self._reloading is None or self._reloading.done():
            self.begin_reload()

    def begin_reload(self) -> None:
        """Reload in the background; a reload that is under way is cancelled, since it may be out of date."""
        if self._reloading is not None:
            self._reloading.cancel()
        if not self._closed and not self.loading:
            self._reloading = asyncio.get_running_loop().create_task(self.reload())

    async def reload(self) -> None:
        """Load every reward again; if one cannot be loaded, its old version stays."""
        for name in list(self.current):
            try:
                pool = await self._start_pool(name)
            except (PlauditError, OSError) as error:
                logger.error("%s was not reloaded and is served as before: %s", name, error)
                self._metrics.reloads[name, "failed"] += 1
                continue
            old, self.current[name] = self.current[name], pool
            self._on_change()
            self._metrics.reloads[name, "done"] += 1
            ending = asyncio.get_running_loop().create_task(self._end_when_idle(old))
            self._tasks.add(ending)
            ending.add_done_callback(self._tasks.discard)

    async def _end_when_idle(self, pool: ServicePool) -> None:
        await pool.drain()
        await self._end(pool)

    async def _end(self, pool: ServicePool) -> None:
        await pool.close()
        self._open.discard(pool)

    async def close(self) -> None:
        """End every worker; requests under way are answered with 503."""
        self._closed = True
        if self._reloading is not None:
            self._reloading.cancel()
            await asyncio.wait({self._reloading})
        await asyncio.gather(*(self._end(pool) for pool in list(self._open)))
        if self._tasks:
            await asyncio.wait(self._tasks)


def _setups(settings: ServerSettings) -> dict[str, Service]:
    setups: dict[str, Service] = {}
    for named_spec in settings.rewards:
        name, spec = _split_name(named_spec)
        if name in setups:
            raise InvalidSettings(f"two rewards are called {name!r}; name one of them: other={spec}")
        if name in RESERVED:
            raise InvalidSettings(f"/{name} is a path of the server itself; give the reward another name: other={spec}")
        shipment, certificates = Shipment.of(spec), settings.judge_certificates
        setups[name] = RewardSetup(name, shipment, settings.most_samples, str(settings.on_unscored), certificates)
    if settings.sandbox:
        if "sandbox" in setups:
            raise InvalidSettings("with --sandbox no reward may be called 'sandbox'; name it: other=SPEC")
        setups["sandbox"] = SandboxSetup()
    return setups


def _split_name(named_spec: str) -> tuple[str, str]:
    """The name and the spec of `name=spec`; a bare spec gets the name of its function, class or file."""
    if (both := _NAMED_SPEC.fullmatch(named_spec)) is not None:
        return both[1], both[2]
    spec = named_spec.strip()
    if (match := _LAST_NAME.search(spec)) is not None:
        return match[1], spec
    stem = Path(spec).stem if spec.endswith((".py", ".yaml", ".yml")) else ""
    return (stem if re.fullmatch(r"[\w-]+", stem) else "reward"), spec


_NAMED_SPEC = re.compile(r"\s*([A-Za-z_][\w-]*)\s*=\s*(.+)", re.DOTALL)
_LAST_NAME = re.compile(r"(?:^|:)([A-Za-z_]\w*)\s*(?:\(.*\))?\Z", re.DOTALL)
