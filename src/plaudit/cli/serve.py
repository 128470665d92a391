"""Servers: `plaudit serve`, rewards as a service for trainers; `plaudit mcp`, tests as tools for coding agents."""

import asyncio
import logging
import os
import socket
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer import Argument, Option

from plaudit import serving
from plaudit.ci.agent_tools import CommandTools
from plaudit.ci.commands import stop_commands
from plaudit.cli import options
from plaudit.cli.app import OptionGroup
from plaudit.cli.console import print_message, print_result
from plaudit.errors import InvalidSettings, require
from plaudit.exports.exported import OnUnscored
from plaudit.sandbox import diagnose
from plaudit.worlds.mcp_server import build_tool_server, serve_stdio

LOOPBACK = "127.0.0.1"
TOKENS = "PLAUDIT_TOKENS"
EVERYWHERE = ("0.0.0.0", "[::]")
REPLICAS = (1, 4)
PACKAGES = ("uvicorn", "httptools", "uvloop", "prometheus_client")


class Network(OptionGroup):
    """Where the server listens, and who may call it."""

    host: Annotated[str, Option("--host", help="The address to listen on; off loopback tokens are needed.")] = LOOPBACK
    port: options.Port = 8000
    token_file: Annotated[
        Path | None, Option("--token-file", help=f"Tokens, one a line; also from {TOKENS}, with commas.")
    ] = None
    tls_cert: Annotated[Path | None, Option("--tls-cert", help="A certificate chain (PEM).")] = None
    tls_key: Annotated[Path | None, Option("--tls-key", help="The private key of the certificate (PEM).")] = None


class Backend(OptionGroup):
    """The workers or replicas that compute rewards."""

    workers: options.Workers = None
    backend: Annotated[
        Literal["processes", "ray"], Option("--backend", help="Workers of this machine, or replicas on Ray Serve.")
    ] = "processes"
    min_replicas: Annotated[int, Option("--min-replicas", help="On Ray: never fewer replicas.")] = REPLICAS[0]
    max_replicas: Annotated[int, Option("--max-replicas", help="On Ray: the upper limit, at any load.")] = REPLICAS[1]
    address: options.Address = None

    def scale(self) -> "serving.ReplicaScale | None":
        """The number of replicas on Ray; None for workers of this machine."""
        if self.backend == "ray":
            return serving.ReplicaScale(self.min_replicas, self.max_replicas, self.address)
        if self.address is not None or (self.min_replicas, self.max_replicas) != REPLICAS:
            raise InvalidSettings(
                "--address, --min-replicas and --max-replicas are for replicas on Ray: add --backend ray"
            )
        return None


def serve(
    network: Network,
    backend: Backend,
    rewards: Annotated[
        list[str] | None,
        Argument(metavar="[REWARD]...", help="Specs as for `plaudit score`; NAME=SPEC gives one a name."),
    ] = None,
    deadline: options.Deadline = options.DEFAULT_DEADLINE_S,
    memory: Annotated[int | None, Option("--memory", metavar="MB", help="Memory that a sample may take.")] = None,
    sandbox: Annotated[bool, Option("--sandbox", help="Also run programs: SandboxFusion's /run_code.")] = False,
    allow_weak_sandbox: Annotated[
        bool, Option("--allow-weak-sandbox", help="Serve other machines even where the sandbox is weak.")
    ] = False,
    on_unscored: Annotated[
        OnUnscored,
        Option("--on-unscored", help="The answer of number-only protocols to an unscored sample: raise is HTTP 422."),
    ] = OnUnscored.RAISE,
    judge_certificate: Annotated[
        list[Path] | None,
        options.file_option("--judge-certificate", "Serve judges only with a valid certificate; repeatable."),
    ] = None,
) -> None:
    """Serve rewards over HTTP until Ctrl-C or SIGTERM; SIGHUP reloads them without a failed request."""
    for package in PACKAGES:
        require(package, extra="serve", purpose="plaudit serve")
    scale = backend.scale()
    read_tokens = partial(serving.read_tokens, network.token_file, os.environ.get(TOKENS, ""))
    settings = serving.ServerSettings(
        rewards=tuple(rewards or ()),
        sandbox=sandbox,
        allow_weak_sandbox=allow_weak_sandbox,
        host=network.host,
        port=network.port,
        workers=backend.workers or (os.cpu_count() if scale is None else 1) or 1,
        deadline_s=deadline or None,
        memory_mb=memory,
        tokens=read_tokens(),
        tls_certificate=network.tls_cert,
        tls_key=network.tls_key,
        on_unscored=on_unscored,
        judge_certificates=tuple(judge_certificate or ()),
    )
    _serve(settings, scale, read_tokens)


def _serve(
    settings: "serving.ServerSettings", scale: "serving.ReplicaScale | None", read_tokens: Callable[[], tuple[str, ...]]
) -> None:
    """Serve until a signal ends it: on Ray with a scale, else on workers of this machine."""
    print_message(f"sandbox tier: {diagnose().tier.label}")
    if not settings.on_loopback and settings.tls_certificate is None:
        print_message("note: without --tls-cert tokens and samples are not encrypted on the network")
    logging.getLogger("plaudit.serving").addHandler(_Messages(logging.ERROR))
    if scale is not None:
        serving.serve_on_ray(settings, scale, partial(_announce, settings), read_tokens)
    else:
        loop = require("uvloop", extra="serve", purpose="plaudit serve").new_event_loop
        with asyncio.Runner(loop_factory=loop) as runner:
            runner.run(serving.serve_until_signalled(settings, _announce_server, read_tokens))
    print_message("stopped")


class _Messages(logging.Handler):
    """Prints what the server logs: a reward that was not reloaded, workers that cannot be replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        print_message(f"error: {record.getMessage()}")


def _announce_server(server: "serving.RewardServer") -> None:
    _announce(server.settings, server.address, server.app.pools.descriptions)


def _announce(settings: "serving.ServerSettings", address: str, rewards: Mapping[str, Mapping[str, Any]]) -> None:
    for name, described in rewards.items():
        print_message(f"{name}: {described['reward']}, key {described['key']}")
    shown = _address_for_clients(settings, address)
    if settings.rewards:
        print_message(f"OpenRLHF: --remote_rm_url {shown}/get_reward")
    if settings.sandbox:
        print_message(f"SandboxFusion: {shown}/run_code")
    print_result(f"serving at {address}")


def _address_for_clients(settings: "serving.ServerSettings", address: str) -> str:
    """The URL for trainers: with the name of this machine if the server listens everywhere, and room for a token."""
    scheme, _, location = address.partition("://")
    host, _, port = location.rpartition(":")
    host = socket.gethostname() if host in EVERYWHERE else host
    return f"{scheme}://{'trainer:TOKEN@' if settings.tokens else ''}{host}:{port}"


INSTRUCTIONS = (
    "Test reward functions for RL: check (contract), test (case tables), audit (attacks), explain (samples), diff (two "
    "versions). Paths are relative to the folder of the server. Answers are short; `full` names a file with everything."
)


def mcp(
    folder: options.Folder = Path(),
    seconds: Annotated[float, Option("--seconds", min=1, help="Time limit for one call.")] = 300.0,
) -> int:
    """Serve check, test, audit, explain and diff as MCP tools on standard input and output, for coding agents."""
    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder")
    with tempfile.TemporaryDirectory(prefix="plaudit-mcp-") as results:
        tools = CommandTools(folder.resolve(), Path(results), seconds)
        server = build_tool_server(tools.list_tools, tools.call, INSTRUCTIONS)
        serve_stdio(server, stop_commands)
    return 0
