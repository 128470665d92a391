"""`plaudit serve`: rewards as a service that trainers share."""

import asyncio
import enum
import logging
import os
import socket
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from plaudit import serving
from plaudit.cli.console import print_message, print_result
from plaudit.cli.options import DEFAULT_DEADLINE_S, AddressOption, DeadlineOption, WorkersOption
from plaudit.dialects.export import OnUnscored
from plaudit.errors import InvalidSettings, require
from plaudit.sandbox import diagnose

__all__ = ["serve"]

TOKENS = "PLAUDIT_TOKENS"
EVERYWHERE = ("0.0.0.0", "[::]")
REPLICAS = (1, 4)


class ServeBackend(enum.StrEnum):
    """Where rewards are computed."""

    PROCESSES = "processes"
    RAY = "ray"


def serve(
    rewards: Annotated[
        list[str] | None,
        typer.Argument(metavar="[REWARD]...", help="Specs as for `plaudit score`; NAME=SPEC gives one a name."),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="The address to listen on; off loopback tokens are needed.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", "-p", help="The port to listen on; 0 takes a free one.")] = 8000,
    workers: WorkersOption = None,
    backend: Annotated[
        ServeBackend, typer.Option("--backend", help="Workers of this machine, or replicas on Ray Serve.")
    ] = ServeBackend.PROCESSES,
    min_replicas: Annotated[int, typer.Option("--min-replicas", help="On Ray: never fewer replicas.")] = REPLICAS[0],
    max_replicas: Annotated[int, typer.Option("--max-replicas", help="On Ray: never more, whatever the load.")] = (
        REPLICAS[1]
    ),
    address: AddressOption = None,
    deadline: DeadlineOption = DEFAULT_DEADLINE_S,
    memory: Annotated[int | None, typer.Option("--memory", metavar="MB", help="Memory that a sample may take.")] = None,
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help=f"Tokens, one a line; also from {TOKENS}, with commas.")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", help="A certificate chain (PEM).")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="Its private key (PEM).")] = None,
    sandbox: Annotated[bool, typer.Option("--sandbox", help="Also run programs: SandboxFusion's /run_code.")] = False,
    allow_weak_sandbox: Annotated[
        bool, typer.Option("--allow-weak-sandbox", help="Serve other machines even where the sandbox is weak.")
    ] = False,
    on_unscored: Annotated[
        OnUnscored,
        typer.Option(
            "--on-unscored", help="What protocols of bare numbers say of a sample without one: raise is HTTP 422."
        ),
    ] = OnUnscored.RAISE,
) -> None:
    """Serve rewards over HTTP until Ctrl-C or SIGTERM; SIGHUP loads them anew, without a failed request."""
    for package in ("httptools", "uvloop", "prometheus_client"):
        require(package, extra="serve", purpose="plaudit serve")
    if backend is not ServeBackend.RAY and (address is not None or (min_replicas, max_replicas) != REPLICAS):
        raise InvalidSettings("--address, --min-replicas and --max-replicas are for replicas on Ray: add --backend ray")
    read_tokens = partial(serving.read_tokens, token_file, os.environ.get(TOKENS, ""))
    settings = serving.ServerSettings(
        rewards=tuple(rewards or ()),
        sandbox=sandbox,
        allow_weak_sandbox=allow_weak_sandbox,
        host=host,
        port=port,
        workers=workers or (1 if backend is ServeBackend.RAY else os.cpu_count()) or 1,
        replicas=serving.ReplicaScale(min_replicas, max_replicas, address) if backend is ServeBackend.RAY else None,
        deadline_s=deadline or None,
        memory_mb=memory,
        tokens=read_tokens(),
        tls_certificate=tls_cert,
        tls_key=tls_key,
        on_unscored=on_unscored,
    )
    print_message(f"sandbox tier: {diagnose().tier.label}")
    if not settings.on_loopback and tls_cert is None:
        print_message("note: without --tls-cert tokens and samples travel in the clear")
    logging.getLogger("plaudit.serving").addHandler(_Messages(logging.ERROR))
    loop = require("uvloop", extra="serve", purpose="plaudit serve").new_event_loop
    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(serving.serve_until_signalled(settings, _announce, read_tokens))
    print_message("stopped")


class _Messages(logging.Handler):
    """Tells whoever runs the server what it logs: a reward that was not reloaded, workers that cannot be replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        print_message(f"error: {record.getMessage()}")


def _announce(server: "serving.RewardServer") -> None:
    address = _address_of_clients(server)
    for name, pool in server.app.pools.items():
        print_message(f"{name}: {pool.description['reward']}, key {pool.description['key']}")
    if server.settings.rewards:
        print_message(f"OpenRLHF: --remote_rm_url {address}/get_reward")
    if server.settings.sandbox:
        print_message(f"SandboxFusion: {address}/run_code")
    print_result(f"serving at {server.address}")


def _address_of_clients(server: "serving.RewardServer") -> str:
    """What a trainer is given: the name of this machine where the server listens on all, and a place for a token."""
    scheme, _, place = server.address.partition("://")
    host, _, port = place.rpartition(":")
    host = socket.gethostname() if host in EVERYWHERE else host
    return f"{scheme}://{'trainer:TOKEN@' if server.settings.tokens else ''}{host}:{port}"
