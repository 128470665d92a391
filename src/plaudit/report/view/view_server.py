"""The server of `plaudit view`: the page and its questions, for this machine only.

It listens on the loopback address; every path begins with a random token, so that no other user and no page in a
browser can ask it anything; a request whose Host is another name (DNS rebinding) is refused. It only reads.
"""

import contextlib
import hmac
import secrets
import sqlite3
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from plaudit.errors import RolloutsError
from plaudit.report.page.bundle import build_page, content_policy
from plaudit.report.page.packing import encode_json
from plaudit.report.run_files import RunFiles, find_runs
from plaudit.report.view.live_run import LiveRun
from plaudit.report.view.sample_index import Query

__all__ = ["ViewServer"]

LOOPBACK = "127.0.0.1"
PAUSE_S, LOOK_FOR_RUNS_S, STOP_S = 1.0, 10.0, 2.0
MAX_LIMIT = 200


class ViewServer:
    """Serves the runs at some paths until it is closed; use it as a context manager."""

    def __init__(self, paths: Sequence[Path], *, port: int = 0) -> None:
        self._paths = list(paths)
        self._folder = tempfile.TemporaryDirectory(prefix="plaudit-view-", ignore_cleanup_errors=True)
        self._found: list[RunFiles] = []
        self.runs: list[LiveRun] = []
        self._token = secrets.token_urlsafe(24)
        try:
            self._look_for_runs()
            self._server = _Server((LOOPBACK, port), _Handler)
        except BaseException:
            self._folder.cleanup()
            raise
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
        """The link to open; whoever has it may look."""
        return f"http://{LOOPBACK}:{self.port}/{self._token}/"

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def allows(self, token: str, host: str) -> bool:
        """Whether a request may be answered."""
        known = {f"{name}:{self.port}" for name in (LOOPBACK, "localhost")}
        return hmac.compare_digest(token.encode(), self._token.encode()) and host in known

    def close(self) -> None:
        """Stop serving and following, and remove the index."""
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        for thread in self._threads:
            thread.join(STOP_S)  # figures of a large run take longer: nobody waits for them
        self._folder.cleanup()

    def __enter__(self) -> "ViewServer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    def _follow(self) -> None:
        """Read what is new of every run, one batch each in turn."""
        waited = 0.0
        while not self._stopping.is_set():
            news = [self._update(run) for run in self.runs]
            if any(news):
                continue
            self._stopping.wait(PAUSE_S)
            waited += PAUSE_S
            if waited >= LOOK_FOR_RUNS_S:
                waited = 0.0
                with contextlib.suppress(RolloutsError):  # the folder may be gone
                    self._look_for_runs()
        for run in self.runs:
            run.close()

    def _update(self, run: LiveRun) -> bool:
        """Read what is new of a run; a file that cannot be read now is tried again later."""
        try:
            return run.update()
        except (OSError, sqlite3.Error):
            return False

    def _look_for_runs(self) -> None:
        for path in self._paths:
            for files in find_runs(path):
                if files not in self._found:
                    folder = Path(self._folder.name) / str(len(self._found))
                    folder.mkdir()
                    self.runs.append(LiveRun(files, folder))
                    self._found.append(files)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    view: ViewServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that has gone away; anything else is a defect to be seen."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        target = urlsplit(self.path)
        _, token, *rest = [unquote(part) for part in target.path.split("/")] + ["", ""]
        if not self.server.view.allows(token, self.headers.get("Host", "")):
            self._answer(HTTPStatus.FORBIDDEN, b"open the link that plaudit view printed", "text/plain")
            return
        self._answer(*_reply(self.server.view, [part for part in rest if part], parse_qs(target.query)))

    def _answer(self, status: HTTPStatus, body: bytes, kind: str) -> None:
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
        """Say nothing: requests name what is looked at."""


_Asked = dict[str, list[str]]


def _reply(view: ViewServer, path: list[str], asked: _Asked) -> tuple[HTTPStatus, bytes, str]:
    """The answer to a question, or why there is none."""
    try:
        return HTTPStatus.OK, *_answer(view, path, asked)
    except (LookupError, ValueError, OverflowError, msgspec.MsgspecError, RolloutsError) as error:
        return HTTPStatus.BAD_REQUEST, f"{error}".encode(errors="replace"), "text/plain"
    except (OSError, sqlite3.Error) as error:  # the file is gone, or was replaced a moment ago
        said = f"the samples cannot be read now: {error}"
        return HTTPStatus.SERVICE_UNAVAILABLE, said.encode(errors="replace"), "text/plain"


def _answer(view: ViewServer, path: list[str], asked: _Asked) -> tuple[bytes, str]:
    if not path:
        data = encode_json({"served": True, "runs": []})
        return build_page("plaudit view", data, served=True), "text/html"
    if path == ["api", "runs"]:
        return encode_json({"runs": [run.state() for run in view.runs]}), "application/json"
    if len(path) in (3, 4) and path[:2] == ["api", "runs"]:
        run = view.runs[int(path[2])]
        question = _QUESTIONS[path[3]] if len(path) == 4 else lambda run, _: run.describe()
        return encode_json(question(run, asked)), "application/json"
    raise LookupError("there is nothing here")


def _query(asked: _Asked) -> Query:
    where = msgspec.json.decode(_one(asked, "where", "[]"), type=tuple[tuple[str, str, str], ...])
    sort, down = msgspec.json.decode(_one(asked, "sort", '["sample", false]'), type=tuple[str, bool])
    return Query(where, _one(asked, "search", ""), sort, down)


def _page(asked: _Asked) -> tuple[int, int]:
    return max(0, int(_one(asked, "offset", "0"))), min(MAX_LIMIT, max(1, int(_one(asked, "limit", "50"))))


def _one(asked: _Asked, name: str, otherwise: str) -> str:
    return asked.get(name, [otherwise])[0]


def _samples(run: LiveRun, asked: _Asked) -> Any:
    start, found = int(_one(asked, "from", "0")), int(_one(asked, "found", "0"))
    return asdict(run.samples(_query(asked), *_page(asked), start=start, found=found))


_QUESTIONS: dict[str, Callable[[LiveRun, _Asked], Any]] = {
    "samples": _samples,
    "groups": lambda run, asked: run.groups(_query(asked), *_page(asked)),
    "sample": lambda run, asked: run.sample(int(_one(asked, "row", ""))),
    "values": lambda run, asked: run.values(int(_one(asked, "row", ""))),
    "choices": lambda run, asked: run.choices(_one(asked, "column", "")),
}
