"""A reward as a Ray Serve deployment: replicas on the machines of a cluster, as many as the load needs.

The server's own process stays the front, so that protocols, tokens, limits and kept answers are the same as without
Ray; Serve starts replicas, watches them, scales them, and gives each request to one that has room. A request whose
replica is lost goes to another: scoring it again does no harm, and only one answer counts.
"""

import asyncio
import itertools
import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

from plaudit.engine.backends.ray_session import RaySession
from plaudit.errors import InvalidSettings, ScoringFailed, require
from plaudit.serving.protocols.protocol import refusal_body
from plaudit.serving.settings import ReplicaScale
from plaudit.serving.workers.pool import PoolSettings
from plaudit.serving.workers.queueing import FairQueue, Job
from plaudit.serving.workers.replica import RewardReplica
from plaudit.serving.workers.wire import Answer, encode_unit, read_answers
from plaudit.serving.workers.worker import ServiceSetup

__all__ = ["ReplicaPool"]

logger = logging.getLogger("plaudit.serving")

MAX_TRIES = 4  # replicas that one request may lose
AGAIN_S = 0.1  # before a request is given to another replica
ONGOING = 16  # requests that a worker of a replica may have, waiting ones included
WANTED = 4  # requests a worker above which Serve starts another replica
PACE = {"upscale_delay_s": 3.0, "downscale_delay_s": 120.0, "metrics_interval_s": 1.0, "look_back_period_s": 3.0}
QUIET = {"log_level": "ERROR", "enable_access_log": False}
COUNT_S = 2.0
DRAIN_S = 0.01
_STOPPED = Answer(503, refusal_body("the server is stopping"))
_numbers = itertools.count(1)


class ReplicaPool:
    """The replicas of one reward, and the requests that wait for them."""

    def __init__(
        self,
        setup: ServiceSetup,
        settings: PoolSettings,
        scale: ReplicaScale,
        on_loss: Callable[[str], None],
        on_change: Callable[[], None],
    ) -> None:
        self._serve = require("ray.serve", extra="serve-ray", purpose="plaudit serve --backend ray")
        errors = require("ray.exceptions", extra="serve-ray", purpose="plaudit serve --backend ray")
        self._losses = (errors.RayActorError, self._serve.exceptions.ReplicaUnavailableError)
        self._setup, self._settings, self._scale, self._on_loss = setup, settings, scale, on_loss
        self._on_change = on_change
        self._loop = asyncio.get_running_loop()
        self._app = f"plaudit-{secrets.token_hex(4)}-{next(_numbers)}"
        self._session: RaySession | None = None
        self._handle: Any = None
        self._deploying: asyncio.Future[None] | None = None
        self._asking: dict[asyncio.Task[None], Job] = {}
        self._room = scale.most * settings.workers * ONGOING
        self._counting: asyncio.Task[None] | None = None
        self.queue, self.failure, self.size = FairQueue(), "", 0
        self.description: dict[str, Any] = {}

    async def start(self) -> dict[str, Any]:
        """Deploy; what the first replica says of the reward. Raises where it cannot be loaded."""
        try:
            self._deploying = self._loop.run_in_executor(None, self._deploy)
            await asyncio.shield(self._deploying)
            about = await self._handle.describe.remote()
            if isinstance(about, str):
                raise InvalidSettings(about)
        except BaseException:
            await self.close()
            raise
        self.description = about
        self._counting = self._loop.create_task(self._count_replicas())
        return self.description

    @property
    def busy(self) -> int:
        """How many requests the replicas have."""
        return len(self._asking)

    @property
    def ready(self) -> bool:
        """Whether a request would be answered."""
        return self._handle is not None and not self.failure

    def submit(self, job: Job) -> None:
        """Give a job to a replica, or queue it behind those that they have."""
        self.queue.add(job)
        self._dispatch()

    async def drain(self) -> None:
        """Return when nothing waits and nobody works."""
        while self.queue or self._asking:
            await asyncio.sleep(DRAIN_S)

    async def close(self) -> None:
        """Delete the deployment; jobs under way are told that the server stops."""
        self._handle = None
        if self._counting is not None:
            self._counting.cancel()
        waiting = [*self._asking.values(), *self.queue.take(len(self.queue), 1 << 62)]
        for task in self._asking:
            task.cancel()
        self._asking = {}
        for job in waiting:
            job.finish(_STOPPED)
        if self._deploying is not None and not self._deploying.done():
            await asyncio.wait({self._deploying})  # a thread cannot be stopped, and Ray may not start behind our back
        if self._session is not None:
            session, self._session = self._session, None
            await self._loop.run_in_executor(None, self._delete, session)

    def _deploy(self) -> None:
        """Join or start Ray, and run the application; blocks."""
        cpus = self._settings.workers
        self._session = RaySession(self._scale.address, self._scale.most * cpus)
        deployment = self._serve.deployment(
            RewardReplica,
            name="reward",
            max_ongoing_requests=cpus * ONGOING,
            autoscaling_config={
                "min_replicas": self._scale.least,
                "max_replicas": self._scale.most,
                "target_ongoing_requests": cpus * WANTED,
                **PACE,
            },
            ray_actor_options={"num_cpus": cpus, "runtime_env": self._session.runtime_env},
            graceful_shutdown_timeout_s=1.0,
            logging_config=QUIET,
        )
        logging.getLogger("ray.serve").setLevel(logging.ERROR)  # of this process, which no option reaches
        try:
            self._serve.start(proxy_location="Disabled", logging_config=QUIET)
            self._handle = self._serve.run(
                deployment.bind(self._setup, self._settings), name=self._app, route_prefix=None
            )
        except (RuntimeError, ValueError) as error:
            raise ScoringFailed(f"Ray Serve could not start the reward: {error}") from error

    def _delete(self, session: RaySession) -> None:
        try:
            if session.is_ours:
                self._serve.shutdown() if _last_of(self._serve, self._app) else self._serve.delete(self._app)
            else:
                self._serve.delete(self._app)
        finally:
            session.leave()

    def _dispatch(self) -> None:
        while self.queue and len(self._asking) < self._room:
            for job in self.queue.take(1, 1 << 62):
                task = self._loop.create_task(self._ask(job))
                self._asking[task] = job
                task.add_done_callback(self._finish)

    def _finish(self, task: "asyncio.Task[None]") -> None:
        self._asking.pop(task, None)
        if self._handle is not None:
            self._dispatch()

    async def _ask(self, job: Job) -> None:
        """Give a job to replicas until one has answered it."""
        for _ in range(MAX_TRIES):
            left_s = job.expires_at - time.monotonic()
            if left_s <= 0:
                job.finish(Answer(504, refusal_body("the request waited longer than it allowed; nothing was scored")))
                return
            try:
                answered = await self._handle.answer.remote(
                    encode_unit([job.wire]), left_s, job.client, self.description["key"]
                )
            except self._losses as error:
                self._note_loss(error)
                await asyncio.sleep(AGAIN_S)
                continue
            except Exception as error:  # noqa: BLE001 - whatever Ray raises, the request gets an answer
                logger.error("a request could not be given to a replica: %s", type(error).__name__)
                break
            if answered is not None:
                [answer], _ = read_answers(answered)
                job.finish(answer)
                return
            self._on_change()  # a replica that was started later has loaded another version of the reward
            await asyncio.sleep(AGAIN_S)
        job.finish(Answer(503, refusal_body("the replicas of the reward were lost; try again")))

    def _note_loss(self, error: Exception) -> None:
        logger.warning("replica lost: %s", type(error).__name__)
        self._on_loss("replica")

    async def _count_replicas(self) -> None:
        """Keep count of the replicas that run, for those who watch the server, and let go of what waits in vain."""
        while True:
            self.queue.drop_stale(time.monotonic())
            self.size = await self._loop.run_in_executor(None, self._running)
            await asyncio.sleep(COUNT_S)

    def _running(self) -> int:
        found = self._serve.status().applications.get(self._app)
        deployments = found.deployments.values() if found is not None else ()
        return sum(states for each in deployments for name, states in each.replica_states.items() if name == "RUNNING")


def _last_of(serve: Any, app: str) -> bool:
    """Whether no other application is served."""
    return set(serve.status().applications) <= {app}
