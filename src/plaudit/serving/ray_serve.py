"""The server's ASGI application as a Ray Serve deployment: each replica runs it with separate workers.

Ray Serve's proxy accepts the connections, sends each request to a replica with capacity, starts replicas under load and
replaces lost ones. Tokens, limits and `/metrics` are those of the replica that answers.
"""

import json
import logging
import queue
import signal
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from plaudit.engine.backends.ray_session import RaySession
from plaudit.errors import InvalidSettings, PlauditError, ScoringFailed, require
from plaudit.serving.app.application import Application
from plaudit.serving.settings import ReplicaScale, ServerSettings, secret_of

logger = logging.getLogger("plaudit.serving")
NAME = "plaudit"
ONGOING, TARGET_ONGOING = 16, 4  # requests per worker that a replica takes at most, and that start another replica
PACE = {"upscale_delay_s": 3.0, "downscale_delay_s": 120.0, "metrics_interval_s": 1.0, "look_back_period_s": 3.0}
QUIET = {"log_level": "ERROR", "enable_access_log": False}


class RayDeployment:
    """Rewards on Ray Serve: `with RayDeployment(settings, ReplicaScale()) as server: print(server.address)`."""

    def __init__(self, settings: ServerSettings, scale: ReplicaScale) -> None:
        if settings.tls_certificate is not None:
            raise InvalidSettings("Ray Serve is used with plain HTTP: leave --tls-cert out, put a TLS proxy in front")
        self._serve: Any = require("ray.serve", extra="serve-ray", purpose="plaudit serve --backend ray")
        self.settings, self._scale = settings, scale
        self.address = f"http://{settings.host}:{settings.port}"

    def __enter__(self) -> "RayDeployment":
        Application(self.settings)  # raises where two rewards have one name
        self._session = RaySession(self._scale.address, self._scale.most * self.settings.workers)
        logging.getLogger("ray.serve").setLevel(logging.ERROR)
        try:
            listen = {"host": self.settings.host, "port": self.settings.port}
            self._serve.start(http_options=listen, logging_config=QUIET)
            self.deploy(self.settings.tokens)
        except BaseException:
            self.__exit__()
            raise
        return self

    def deploy(self, tokens: tuple[str, ...]) -> None:
        """Load the current rewards in new replicas, which replace the old ones when they are ready."""
        settings, workers = replace(self.settings, tokens=tokens), self.settings.workers
        deployment = self._serve.deployment(
            self._serve.ingress(lambda: Application(settings))(),
            name="rewards",
            max_ongoing_requests=workers * ONGOING,
            autoscaling_config={
                "min_replicas": self._scale.least,
                "max_replicas": self._scale.most,
                "target_ongoing_requests": workers * TARGET_ONGOING,
                **PACE,
            },
            ray_actor_options={"num_cpus": workers, "runtime_env": self._session.runtime_env},
            graceful_shutdown_timeout_s=settings.drain_s,
            logging_config=QUIET,
        )
        try:
            self._serve.run(deployment.bind(), name=NAME, route_prefix="/")
        except (RuntimeError, ValueError) as error:
            raise ScoringFailed(f"Ray Serve could not start the rewards: {error}") from error

    def descriptions(self) -> dict[str, dict[str, Any]]:
        """The description of each reward, by name."""
        token = next(map(secret_of, self.settings.tokens), "")
        request = urllib.request.Request(f"{self.address}/", headers={"authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request) as answer:
            return {each["name"]: each for each in json.load(answer)["rewards"]}

    def __exit__(self, *_: object) -> None:
        try:
            self._serve.shutdown() if self._session.is_ours else self._serve.delete(NAME)
        finally:
            self._session.leave()


def serve_on_ray(
    settings: ServerSettings,
    scale: ReplicaScale,
    on_ready: Callable[[str, dict[str, dict[str, Any]]], None],
    read_tokens: Callable[[], tuple[str, ...]],
) -> None:
    """Serve on Ray until SIGTERM or SIGINT; SIGHUP deploys the current rewards and tokens."""
    received: queue.SimpleQueue[int] = queue.SimpleQueue()
    with RayDeployment(settings, scale) as server:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda number, _: received.put(number))  # after Ray has set its own handlers
        on_ready(server.address, server.descriptions())
        while received.get() == signal.SIGHUP:
            try:
                server.deploy(read_tokens())
            except (PlauditError, OSError) as error:
                logger.error("the rewards were not reloaded and are served as before: %s", error)
