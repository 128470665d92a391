"""A server is safe by default: who may ask, how much, how long, and what it gives away."""

import asyncio
import base64
import contextlib
import http.client
import json
import os
import socket
import ssl
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
import requests

from plaudit.dialects.export import OnUnscored
from plaudit.errors import InvalidSettings
from plaudit.sandbox import Tier
from plaudit.sandbox.doctor import Diagnosis
from plaudit.serving import HttpLimits, ServerSettings, ServerThread, read_tokens
from plaudit.serving.http.connection import Connection
from plaudit.serving.http.listening import tls_context
from plaudit.serving.server import _setups
from tests.serving.asking import ask, samples, wait_until
from tests.serving.conftest import settings

OLD, NEW = "old-token-of-16-characters", "new-token-of-16-characters"


@pytest.fixture(scope="module")
def guarded():
    limits = HttpLimits(body_bytes=2000, head_bytes=4000, head_s=0.5, body_s=0.5, connections=20)
    with ServerThread(settings("mark", tokens=(f"trainer: {OLD}", NEW), http=limits, workers=1)) as running:
        yield running


def send(server, *parts: bytes, wait_s: float = 5.0, pause_s: float = 0.0) -> bytes:
    """Send bytes as they are, part by part; what comes back until the server closes."""
    host, port = server.address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=wait_s) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        answer = b""
        with contextlib.suppress(ConnectionError):  # it may be closed before the end
            for part in parts:
                connection.sendall(part)
                time.sleep(pause_s)
            while part := connection.recv(65536):
                answer += part
        return answer


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def test_off_loopback_a_token_is_required():
    with pytest.raises(InvalidSettings, match="clients must show a token: give --token-file, or set PLAUDIT_TOKENS"):
        ServerSettings(rewards=("math",), host="0.0.0.0")
    assert ServerSettings(rewards=("math",)).host == "127.0.0.1"


def password(token: str) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(f'any:{token}'.encode()).decode()}"}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        bearer("wrong-token-of-16-chars"),
        password("wrong-token-of-16-chars"),
        password(""),
        {"authorization": f"Basic {OLD}"},
        {"authorization": "Basic ="},
        {"authorization": f"Digest {OLD}"},
        {"authorization": "Bearer"},
    ],
)
def test_a_wrong_token_gets_nothing_but_health(guarded, headers):
    answer = ask(guarded.address, "/score", samples("yes"), **headers)
    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert ask(guarded.address, "/metrics", **headers).status == 401
    assert ask(guarded.address, "/nothing", **headers).status == 401
    assert ask(guarded.address, "/health").status == 200


def test_the_document_says_which_pages_need_no_token(guarded):
    paths = ask(guarded.address, "/openapi.json", **bearer(OLD)).json["paths"]
    pages = {path: operations["get"] for path, operations in paths.items() if "get" in operations}
    assert {path for path, page in pages.items() if page.get("security") == []} == {"/health", "/ready"}
    assert {path for path in pages if ask(guarded.address, path).status == 200} == {"/health", "/ready"}


@pytest.mark.parametrize("token", [OLD, NEW])
def test_several_tokens_are_valid_at_once(guarded, token):
    assert ask(guarded.address, "/score", samples("yes"), **bearer(token)).status == 200


def test_a_client_that_knows_only_a_url_shows_its_token_there(guarded):
    url = guarded.address.replace("http://", f"http://trainer:{OLD}@")
    answer = requests.post(f"{url}/get_reward", json={"query": ["yes"], "labels": ["yes"]}, timeout=10)
    assert answer.json()["rewards"] == [1.0]


def test_tokens_come_from_a_file_or_a_list_and_are_long_enough(tmp_path):
    (tmp_path / "tokens").write_text(f"# the trainers\nfirst: {OLD}\n\n{NEW}\n")
    assert read_tokens(tmp_path / "tokens") == (f"first: {OLD}", NEW)
    assert read_tokens(None, f"{OLD},{NEW}") == (OLD, NEW)


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("short", "at least 16 characters"),
        ("name: ", "at least 16 characters"),
        ("tökén-that-is-long-enough", "signs of ASCII"),
        ("a token with spaces in it", "signs of ASCII"),
        ("a\0token-that-is-long", "signs of ASCII"),
    ],
)
def test_a_token_that_clients_cannot_show_or_others_guess_is_refused(token, words):
    with pytest.raises(InvalidSettings, match=words):
        ServerSettings(rewards=("math",), tokens=(token,))


@pytest.mark.parametrize("spec", ["rewards.py:score", "health=math", "verify=math", "run_code=math"])
def test_a_reward_does_not_take_the_place_of_a_path_of_the_server(spec):
    with pytest.raises(InvalidSettings, match="is a path of the server itself; give the reward another name: other="):
        _setups(ServerSettings(rewards=(spec,)))


@pytest.mark.parametrize("wrong", [{"deadline_s": float("nan")}, {"deadline_s": -1.0}, {"memory_mb": 0}])
def test_limits_that_limit_nothing_are_refused(wrong):
    with pytest.raises(InvalidSettings, match="must be positive"):
        ServerSettings(rewards=("math",), **wrong)


def test_a_web_page_cannot_reach_a_server_on_loopback(server):
    rebound = ask(server.address, "/", host="attacker.example")
    assert rebound.status == 403
    plain = ask(server.address, "/score", b"{}", content_type="text/plain")
    assert plain.status == 415  # what a page may send without asking first


def test_a_large_body_is_refused_before_it_is_read(guarded):
    answer = ask(guarded.address, "/score", b"x" * 3000, **bearer(OLD))
    assert answer.status == 413
    chunked = (
        (
            f"POST /score HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {OLD}\r\ncontent-type: application/json\r\n"
            "transfer-encoding: chunked\r\n\r\n"
        ).encode()
        + b"fa0\r\n"
        + b"x" * 4000
    )
    assert b" 413 " in send(guarded, chunked)[:20]


def test_long_headers_and_what_is_not_http_are_refused(guarded):
    assert b" 431 " in send(guarded, b"GET / HTTP/1.1\r\na: " + b"x" * 5000 + b"\r\n\r\n")[:20]
    broken = send(guarded, b"\x16\x03\x01 hello\r\n\r\n")
    assert b" 400 " in broken[:20]
    assert b"x-plaudit-version" in broken
    assert b"x-plaudit-key" not in broken  # whoever it is has shown no token


def posted(response: str, *headers: str) -> bytes:
    body = json.dumps(samples(response, truth=response)).encode()
    lines = ("POST /score HTTP/1.1", "content-type: application/json", f"content-length: {len(body)}", *headers)
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body


@pytest.mark.parametrize(
    ("behind", "status"),
    [
        (b"no HTTP\r\n\r\n", 400),
        (posted("yes", "host: localhost", "content-length: 3"), 400),
        (b"GET / HTTP/1.1\r\nhost: localhost\r\na: " + b"x" * 40_000 + b"\r\n\r\n", 431),
        (b"POST /nothing HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n", 404),
        (b"GET /nothing HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, close\r\nupgrade: h2c\r\n\r\n", 404),
    ],
    ids=["no HTTP", "two lengths", "long head", "expectation", "upgrade"],
)
def test_a_refusal_does_not_overtake_the_answers_before_it(server, behind, status):
    answered = send(server, posted("slow", "host: localhost") + behind)
    assert [int(part[:3]) for part in answered.split(b"HTTP/1.1 ")[1:]] == [200, status]
    assert b'"reward":1.0' in answered


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (("host: localhost", "host: example.com"), 400),
        (("host: localhost", "idempotency-key: a", "idempotency-key: b"), 400),
        ((), 400),
        (("host: localhost", "content-encoding: gzip"), 415),
        (("host: localhost", "transfer-encoding: identity", "transfer-encoding: chunked"), 400),
        (("host: localhost", "x-deadline-s: soon"), 422),
        (("host: localhost", f"idempotency-key: {'k' * 201}"), 422),
        (("host: localhost",), 200),
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_refused(server, headers, status):
    assert send(server, posted("yes", *headers, "connection: close"))[9:12] == str(status).encode()


def test_wishes_for_the_connection_count_in_however_many_headers_they_stand(server):
    head = b"GET /health HTTP/1.1\r\nhost: localhost\r\n"
    behind = b"GET /ready HTTP/1.1\r\nhost: localhost\r\n\r\n"
    for wishes in (b"close\r\nconnection: upgrade", b"upgrade\r\nconnection: close", b"close, upgrade", b"close"):
        answered = send(server, head + b"connection: " + wishes + b"\r\nupgrade: h2c\r\n\r\n" + behind)
        assert answered.count(b"HTTP/1.1 200") == 1


def test_a_body_that_comes_in_pieces_is_not_in_its_own_way():
    with ServerThread(settings("mark", queue_bytes=10_000, http=HttpLimits(body_bytes=8_000))) as running:
        body = json.dumps(samples("y" * 6_000)).encode()
        head = b"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n"
        chunks = [b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:3_000], body[3_000:])]
        parts = (head + b"transfer-encoding: chunked\r\n\r\n", *chunks, b"0\r\n\r\n")
        assert b" 200 " in send(running, *parts, pause_s=0.05)[:20]
        assert running.server.app.admission.bytes == 0


def test_a_length_with_a_space_behind_it_is_a_length(guarded):
    head = f"POST /score HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {OLD}\r\ncontent-type: application/json\r\n"
    asked = f"{head}expect: 100-continue\r\ncontent-length: 50000000 \r\n\r\n"
    assert b" 413 " in send(guarded, asked.encode())[:20]


@pytest.mark.parametrize("target", ["/%68ealth", "/health?a=b", "http://localhost/health", "http://localhost/health?a"])
def test_a_path_may_be_written_in_all_ways_that_http_has(server, target):
    asked = f"GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert b" 200 " in send(server, asked.encode())[:20]


OFFER = ("host: localhost", "upgrade: h2c", "http2-settings: AAMAAABkAARAAAAAAAIAAAAA")
UPGRADE = "connection: Upgrade, HTTP2-Settings"


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
def test_who_offers_another_protocol_is_answered_in_this_one(server, size):
    """As Java's client and `curl --http2` do."""
    asked = posted("yes", *OFFER, UPGRADE) + posted("no", *OFFER, UPGRADE, "connection: upgrade, close")
    answered = send(server, *(asked[at : at + size] for at in range(0, len(asked), size)))
    assert [int(part[:3]) for part in answered.split(b"HTTP/1.1 ")[1:]] == [200, 200]
    assert answered.count(b'"reward":1.0') == 2
    assert answered.count(b"connection: close") == 1


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (posted("yes", *OFFER, UPGRADE, "host: localhost"), 400),
        (posted("yes", *OFFER, UPGRADE).replace(b"/score", b"/nothing"), 404),
        (posted("yes", *OFFER, UPGRADE, "connection: upgrade, close").replace(b"HTTP/1.1", b"HTTP/1.0"), 200),
        (b"CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\nupgrade: h2c\r\n\r\n", 404),
        (b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: a\r\n\r\n" * 50, 200),
    ],
    ids=["two hosts", "no such path", "HTTP/1.0", "tunnel", "crowd"],
)
def test_an_offer_of_another_protocol_changes_nothing_else(server, request_, status):
    answered = [int(part[:3]) for part in send(server, request_, b"GET / HTTP/1.0\r\n\r\n").split(b"HTTP/1.1 ")[1:]]
    assert answered[0] == status
    assert set(answered[1:]) <= {200, 400}


def test_trailers_change_nothing_of_what_was_checked(server):
    body = json.dumps(samples("yes")).encode()
    head = b"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n"
    chunks = b"%x\r\n%b\r\n0\r\nx-deadline-s: never\r\nx-request-id: later\r\n\r\n" % (len(body), body)
    answered = send(server, head + b"transfer-encoding: chunked\r\n\r\n" + chunks)
    assert b" 200 " in answered[:20]
    assert b"later" not in answered


def test_nothing_is_read_behind_a_request_that_closes_the_connection(server):
    answered = send(server, posted("yes", "host: localhost", "connection: close") + posted("yes", "host: localhost"))
    assert answered.count(b"HTTP/1.1 200") == answered.count(b"HTTP/1.1") == 1


def test_a_client_that_writes_slowly_is_cut_off(guarded):
    began = time.monotonic()
    head = f"POST /score HTTP/1.1\r\nauthorization: Bearer {OLD}\r\ncontent-type: application/json\r\n"
    assert b" 408 " in send(guarded, head.encode() + b"content-length: 100\r\n\r\n{")[:20]
    send(guarded, b"GET / HT")
    assert time.monotonic() - began < 10


def test_a_client_that_does_not_read_gets_no_more_and_holds_up_nobody(server):
    host, port = server.address.removeprefix("http://").split(":")
    echoed = {"responses_create_params": {}, "response": {"output": []}, "padding": "x" * (1 << 20)}
    body = json.dumps(echoed).encode()
    head = f"POST /verify HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    asked = f"{head}\r\n\r\n".encode() + body
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect((host, int(port)))
        lazy.setblocking(False)
        left, stuck, deadline = b"", [], time.monotonic() + 30
        while not stuck and time.monotonic() < deadline:
            left = left or asked
            with contextlib.suppress(BlockingIOError):
                left = left[lazy.send(left) :]
            stuck = [each for each in list(server.server.app.connections) if each._unread_answers]
        assert ask(server.address, "/score", samples("yes")).status == 200
        [connection] = stuck
        assert connection._transport.get_write_buffer_size() < 3 * len(body)  # an answer has its request in it
        assert server.server.app.admission.bytes < 20 * len(body)
    assert ask(server.address, "/score", samples("yes")).status == 200


class NotYetRead(asyncio.Transport):
    """A line whose other end has yet to read a part of what was written."""

    def write(self, data):
        pass

    def is_closing(self):
        return False

    def get_write_buffer_size(self):
        return 1


@pytest.mark.parametrize("late_s", [0.0, -100.0])
def test_a_client_has_time_to_read_an_answer_however_long_it_waited_for_it(server, late_s):
    limits = HttpLimits(head_s=1.0, body_s=1.0, idle_s=1.0, write_s=50.0)
    connection = Connection(server.server.app, limits)
    connection.connection_made(NotYetRead())
    connection.deadline = time.monotonic() + late_s
    connection.data_received(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
    assert connection.deadline - time.monotonic() == pytest.approx(50.0, abs=5.0)
    connection.connection_lost(None)


def test_who_announces_bodies_and_sends_none_holds_up_nobody_else():
    head = b"POST /score HTTP/1.1\r\nhost: localhost\r\nx-client: hog\r\ncontent-type: application/json\r\n"
    with ServerThread(settings("mark", queue_bytes=4000)) as running:
        host, _, port = running.address.removeprefix("http://").partition(":")
        hogs = [socket.create_connection((host, int(port))) for _ in range(4)]
        for hog in hogs:
            hog.sendall(head + b"content-length: 1000\r\n\r\n{")
        wait_until(lambda: running.server.app.metrics.requests["other", 429] == 2)
        answers = [ask(running.address, "/score", samples("yes"), x_client=who).status for who in ("honest", "hog")]
        for hog in hogs:
            hog.close()
        wait_until(lambda: running.server.app.admission.bytes == 0)
        assert answers == [200, 429]
        assert ask(running.address, "/score", samples("yes"), x_client="hog").status == 200


def test_a_crowd_of_strangers_is_bounded_and_keeps_no_client_out(guarded):
    place = urlsplit(guarded.address)
    client = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
    crowd = []
    for _ in range(2):  # the client of a token comes first, then last: it is not the one that has to go
        client.request(
            "POST", "/score", json.dumps(samples("yes")), {"content-type": "application/json", **bearer(NEW)}
        )
        assert client.getresponse().read().startswith(b'{"outputs"')
        crowd += [socket.create_connection((place.hostname, place.port)) for _ in range(40)]
        wait_until(lambda: len(guarded.server.app.connections) == 20)
    sock = client.sock
    client.request("POST", "/score", json.dumps(samples("yes")), {"content-type": "application/json", **bearer(NEW)})
    assert client.getresponse().status == 200
    assert client.sock is sock
    assert ask(guarded.address, "/score", samples("yes"), **bearer(NEW)).status == 200
    for connection in (client, *crowd):
        connection.close()


def test_a_client_that_has_begun_to_ask_is_not_the_one_that_makes_room(guarded):
    place = urlsplit(guarded.address)
    asked = f"GET / HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {OLD}\r\n\r\n".encode()
    with contextlib.ExitStack() as opened:
        clients = [
            opened.enter_context(socket.create_connection((place.hostname, place.port), timeout=5))
            for _ in range(guarded.server.settings.http.connections)
        ]
        for client in clients:
            client.sendall(asked)
            assert client.recv(1 << 16).startswith(b"HTTP/1.1 200")
        clients[0].sendall(asked[:20])
        wait_until(lambda: any(each._reading for each in list(guarded.server.app.connections)))
        opened.enter_context(socket.create_connection((place.hostname, place.port)))
        assert clients[1].recv(1) == b""
        clients[0].sendall(asked[20:])
        assert clients[0].recv(1 << 16).startswith(b"HTTP/1.1 200")


def test_a_crowd_of_connections_that_are_all_at_work_is_bounded():
    with ServerThread(settings("mark", http=HttpLimits(connections=3))) as running, ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(ask, running.address, "/score", samples("slow", "slow", "slow")) for _ in range(3)]
        wait_until(lambda: running.server.app.admission.requests == 3)
        assert send(running, b"").startswith(b"HTTP/1.1 503 ")  # what it sends may not be read, and the line be reset
        assert [each.result().status for each in asked] == [200] * 3


def test_a_failure_shows_no_traceback_and_no_path(server):
    body = ask(server.address, "/score", samples("raise")).body
    assert b"Traceback" not in body
    assert os.path.dirname(__file__).encode() not in body


def test_a_reward_that_cannot_be_loaded_any_more_shows_why_in_the_log_only(tmp_path, caplog):
    file = tmp_path / "breaking.py"
    file.write_text("import os\ndef breaking(response): os._exit(3)\n")
    with ServerThread(ServerSettings(rewards=(f"{file}:breaking",), port=0, workers=1)) as running:
        file.write_text("raise ValueError('a secret')\n")
        answers = [ask(running.address, "/score", samples("a")), ask(running.address, "/ready")]
    assert [answer.status for answer in answers] == [503, 503]
    told = b"".join(answer.body for answer in answers)
    assert told.count(b"the reward cannot be loaded any more; the log of the server says why") == 2
    assert b"secret" not in told
    assert str(tmp_path).encode() not in told
    assert "ValueError: a secret" in caplog.text


def test_samples_are_never_logged(server, caplog, capfd):
    caplog.set_level(0)
    ask(server.address, "/score", samples("a secret response", "crash of a secret response"))
    assert "secret" not in caplog.text + "".join(capfd.readouterr())


def make_certificate(certificate, key):
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(
        [
            *made,
            "-keyout",
            key,
            "-out",
            certificate,
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
        ],
        check=True,
        capture_output=True,
    )


def ask_health_with_tls(running, certificate) -> bytes:
    context = ssl.create_default_context(cafile=str(certificate))
    port = int(running.address.rpartition(":")[2])
    with (
        socket.create_connection(("127.0.0.1", port)) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as wrapped,
    ):
        wrapped.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
        return wrapped.recv(1000)


def test_tls_is_spoken_with_the_files_that_are_given_and_with_new_ones_after_a_reload(tmp_path):
    certificate, key, other_key = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "other.pem"
    make_certificate(certificate, key)
    with ServerThread(settings("mark", tls_certificate=certificate, tls_key=key, workers=1)) as running:
        assert running.address.startswith("https://")
        assert b" 200 " in ask_health_with_tls(running, certificate)
        old = certificate.read_bytes()
        make_certificate(certificate, other_key)
        running.server._read_tokens = lambda: (NEW,)
        running.server._renew_credentials()  # does not go with the key: the old one stays, and tokens are renewed
        assert running.server.app._access.needs_token
        (tmp_path / "old.pem").write_bytes(old)
        assert b" 200 " in ask_health_with_tls(running, tmp_path / "old.pem")
        other_key.rename(key)
        running.server._renew_credentials()
        assert b" 200 " in ask_health_with_tls(running, certificate)
    with (
        pytest.raises(InvalidSettings, match="for TLS"),
        ServerThread(settings("mark", tls_certificate=key, tls_key=key)),
    ):
        pass


def test_a_key_with_a_password_is_refused_and_nobody_is_asked_for_it(tmp_path):
    certificate, key, locked = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "locked.pem"
    make_certificate(certificate, key)
    lock = ["openssl", "pkey", "-in", key, "-aes128", "-passout", "pass:secret", "-out", locked]
    subprocess.run(lock, check=True, capture_output=True)
    with pytest.raises(InvalidSettings, match=r"locked.pem is encrypted.*openssl pkey -in .*locked.pem -out key.pem"):
        tls_context(ServerSettings(rewards=("math",), tls_certificate=certificate, tls_key=locked))


def test_a_weak_sandbox_does_not_serve_other_machines_unless_told_to(monkeypatch):
    monkeypatch.setattr("plaudit.serving.server.diagnose", lambda: Diagnosis(Tier.SECCOMP, ()))
    words = "the sandbox tier here is 'seccomp', and other machines could send programs"
    with (
        pytest.raises(InvalidSettings, match=words),
        ServerThread(settings("mark", host="0.0.0.0", tokens=(OLD,), workers=1)),
    ):
        pass
    with ServerThread(settings("mark", host="0.0.0.0", tokens=(OLD,), workers=1, allow_weak_sandbox=True)) as running:
        assert running.address.startswith("http://0.0.0.0:")


def test_two_servers_on_one_port_give_a_clear_error(server):
    port = int(server.address.rpartition(":")[2])
    with (
        pytest.raises(InvalidSettings, match=rf"127.0.0.1:{port} is in use: another server listens there"),
        ServerThread(settings("mark", port=port)),
    ):
        pass


@pytest.mark.parametrize(
    ("reward", "words"),
    [("nothing_like_that", "no reward named"), (f"{__file__}:missing", "missing")],
)
def test_a_reward_that_cannot_be_loaded_is_an_error_at_the_start(reward, words):
    with pytest.raises(InvalidSettings, match=words), ServerThread(ServerSettings(rewards=(reward,), port=0)):
        pass


def test_a_file_that_cannot_be_read_is_named_at_the_start(tmp_path):
    file = tmp_path / "loop.py"
    file.symlink_to(file)
    reward = f"{file}:anything"
    with pytest.raises(InvalidSettings, match=r"loop\.py"), ServerThread(ServerSettings(rewards=(reward,), port=0)):
        pass


def test_a_policy_that_no_protocol_can_follow_is_refused():
    with pytest.raises(InvalidSettings, match="on_unscored=mask: no protocol of a server can mark a sample"):
        ServerSettings(rewards=("math",), on_unscored=OnUnscored.MASK)
    with pytest.raises(InvalidSettings, match="on_unscored is one of raise, mean, nan, none, got 'zero'"):
        ServerSettings(rewards=("math",), on_unscored="zero")


def test_a_file_in_the_working_folder_does_not_take_the_place_of_a_module(tmp_path, monkeypatch):
    (tmp_path / "random.py").write_text("def one(response): return 1.0\n")
    monkeypatch.chdir(tmp_path)
    with ServerThread(ServerSettings(rewards=("random.py:one",), port=0, workers=1)) as running:
        assert ask(running.address, "/get_reward", {"query": ["a"]}).json["rewards"] == [1.0]
