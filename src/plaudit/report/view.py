"""The server of `plaudit view`: the page of a report, for this machine only, of runs that may still grow.

It listens on the loopback address; every path begins with a random token, so that no other user and no page in a
browser can read anything; a request whose Host is another name (DNS rebinding) is refused. It only reads.
"""

import contextlib
import hmac
import secrets
import sys
import threading
import time
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

from plaudit.errors import RolloutsError
from plaudit.report.page.bundle import build_page, content_policy
from plaudit.report.page.packing import Packed, encode_json
from plaudit.report.page.report_file import ReportBuilder, describe_run
from plaudit.report.run_files import GrowingRollouts, RunFiles, find_runs

LOOPBACK = "127.0.0.1"
PAUSE_S, FIND_RUNS_S, STOP_S = 1.0, 10.0, 2.0
BATCH = 2_000
LIVE_S = 60.0
MAX_BYTES = 64_000_000
"""Compressed texts of a run that are kept; the texts of further groups are left out."""


class LiveRun:
    """One run; `update` reads what is new, everything else may be read by other threads meanwhile."""

    def __init__(self, files: RunFiles) -> None:
        self.name = files.name
        self.files = files
        self._rollouts = GrowingRollouts(files.rollouts, self._start)
        self._metrics_time = 0.0
        self._version, self._counted = 0, 0
        self._computed_at = self._cost_s = 0.0
        self._page: tuple[dict[str, Any], Packed] | None = None
        self._start()

    def update(self) -> bool:
        """Read new samples, a batch at most, and renew the figures if that is due; returns whether any were new."""
        before = len(self._builder.table)
        for rollout in self._rollouts.read(most=BATCH):
            self._builder.add(rollout)
        rows = len(self._builder.table)
        is_new = rows != before
        metrics = self.files.metrics
        changed = metrics.stat().st_mtime if metrics is not None and metrics.exists() else self._metrics_time
        if (rows != self._counted or changed != self._metrics_time) and self._is_due(rows, at_end=not is_new):
            self._metrics_time = changed
            self._renew()
        return is_new

    def state(self) -> dict[str, Any]:
        """The data that changes during the run."""
        try:
            age = time.time() - self.files.rollouts.stat().st_mtime
        except OSError:
            age = LIVE_S
        rows = len(self._builder.table)
        live = age < LIVE_S or self._counted < rows
        return {"name": self.name, "rows": self._counted, "read": rows, "version": self._version, "live": live,
                "left_out": self._rollouts.left_out}  # fmt: skip

    def describe(self) -> dict[str, Any]:
        """The figures as the page needs them; without them while the first samples are read."""
        return {**(self._page[0] if self._page else {}), **self.state()}

    def block(self, name: str) -> bytes:
        """A block of samples, or their columns, compressed; raises LookupError for one that is no longer there."""
        if self._page is None:
            raise LookupError("no samples are read yet")
        packed = self._page[1]
        return packed.head if name == "columns" else packed.blocks[name]

    def _start(self) -> None:
        self._builder = ReportBuilder(self.name, MAX_BYTES)
        self._counted = 0

    def _is_due(self, rows: int, *, at_end: bool) -> bool:
        """At the end of the file, else each time the samples have doubled; never most of the time."""
        if time.monotonic() - self._computed_at < (2 if at_end else 5) * self._cost_s:
            return False
        return bool(rows) and (at_end or rows >= max(BATCH, 2 * self._counted))

    def _renew(self) -> None:
        started = time.monotonic()
        run = self._builder.build(self.files.metrics)
        self._page, self._counted = describe_run(run), len(self._builder.table)
        self._version += 1
        self._computed_at = time.monotonic()
        self._cost_s = self._computed_at - started


class ViewServer:
    """Serves the runs at some paths until it is closed; use it as a context manager."""

    def __init__(self, paths: Sequence[Path], *, port: int = 0) -> None:
        self._paths = list(paths)
        self.runs: list[LiveRun] = []
        self._token = secrets.token_urlsafe(24)
        self._find_new_runs()
        self._server = _Server((LOOPBACK, port), _Handler)
        self._server.view = self
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._server.serve_forever, name="plaudit-view", daemon=True),
            threading.Thread(target=self._follow, name="plaudit-follow", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def address(self) -> str:
        """The link to open; anyone who has it can read the report."""
        return f"http://{LOOPBACK}:{self.port}/{self._token}/"

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def allows(self, token: str, host: str) -> bool:
        """Whether a request may be answered."""
        known = {f"{name}:{self.port}" for name in (LOOPBACK, "localhost")}
        return hmac.compare_digest(token.encode(), self._token.encode()) and host in known

    def close(self) -> None:
        """Stop serving and reading."""
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        for thread in self._threads:
            thread.join(STOP_S)  # the figures of a large run may take longer: they are not waited for

    def __enter__(self) -> "ViewServer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def answer(self, path: Sequence[str]) -> tuple[bytes, str]:
        """The content at a path and its type; raises LookupError or ValueError if there is none."""
        match path:
            case []:
                return build_page("plaudit view", encode_json({"served": True, "runs": []}), served=True), "text/html"
            case ["runs"]:
                return encode_json([run.state() for run in self.runs]), "application/json"
            case ["runs", number]:
                return encode_json(self.runs[int(number)].describe()), "application/json"
            case ["runs", number, name]:
                return self.runs[int(number)].block(name), "application/gzip"
        raise LookupError("there is nothing here")

    def _follow(self) -> None:
        """Read what is new of every run, one batch each in turn."""
        waited = 0.0
        while not self._stopping.is_set():
            news = [self._update(run) for run in self.runs]
            if any(news):
                continue
            self._stopping.wait(PAUSE_S)
            waited += PAUSE_S
            if waited >= FIND_RUNS_S:
                waited = 0.0
                with contextlib.suppress(RolloutsError):  # the folder may have been removed
                    self._find_new_runs()

    def _update(self, run: LiveRun) -> bool:
        """Read what is new of a run; a file that cannot be read now is tried again later."""
        try:
            return run.update()
        except (OSError, RolloutsError):
            return False

    def _find_new_runs(self) -> None:
        for path in self._paths:
            for files in find_runs(path):
                if files not in [run.files for run in self.runs]:
                    self.runs.append(LiveRun(files))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    view: ViewServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that has disconnected; report anything else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        _, token, *rest = [unquote(part) for part in urlsplit(self.path).path.split("/")] + ["", ""]
        view = self.server.view
        if not view.allows(token, self.headers.get("Host", "")):
            self._send(HTTPStatus.FORBIDDEN, b"open the link that plaudit view printed", "text/plain")
            return
        try:
            self._send(HTTPStatus.OK, *view.answer([part for part in rest if part]))
        except (LookupError, ValueError) as error:
            self._send(HTTPStatus.NOT_FOUND, f"{error}".encode(errors="replace"), "text/plain")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(body)),
            "Content-Security-Policy": content_policy(served=True),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
            "X-Frame-Options": "DENY",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: requests name what is looked at."""
