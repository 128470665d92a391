"""A server is safe by default: tokens, limits, TLS, and what its answers and logs show."""

import asyncio
import base64
import json
import os
import socket
import ssl
import subprocess

import pytest
import requests

from plaudit.errors import InvalidSettings, ScoringFailed
from plaudit.exports.exported import OnUnscored
from plaudit.sandbox import Tier
from plaudit.sandbox.doctor import Diagnosis
from plaudit.serving import RewardServer, ServerSettings, ServerThread, read_tokens
from plaudit.serving.server import tls_context
from tests.serving.asking import ask, metric, samples, send, wait_until
from tests.serving.conftest import settings

OLD, NEW = "old-token-of-16-characters", "new-token-of-16-characters"


@pytest.fixture(scope="module")
def guarded():
    with ServerThread(settings("mark", tokens=(f"trainer: {OLD}", NEW), body_bytes=2000, workers=1)) as running:
        yield running


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


def test_a_client_with_only_a_url_sends_its_token_in_the_url(guarded):
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
        ("tökén-that-is-long-enough", "printable ASCII"),
        ("a token with spaces in it", "printable ASCII"),
        ("a\0token-that-is-long", "printable ASCII"),
    ],
)
def test_a_token_that_clients_cannot_show_or_others_guess_is_refused(token, words):
    with pytest.raises(InvalidSettings, match=words):
        ServerSettings(rewards=("math",), tokens=(token,))


@pytest.mark.parametrize("spec", ["rewards.py:score", "health=math", "verify=math", "run_code=math"])
def test_a_reward_does_not_take_the_place_of_a_path_of_the_server(spec):
    with pytest.raises(InvalidSettings, match="is a path of the server itself; give the reward another name: other="):
        asyncio.run(build(ServerSettings(rewards=(spec,))))


async def build(given: ServerSettings) -> RewardServer:
    return RewardServer(given)


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
    head = f"POST /score HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {OLD}\r\ncontent-type: application/json\r\n"
    assert b" 413 " in send(guarded, f"{head}content-length: 50000000\r\n\r\n".encode())[:20]
    chunked = f"{head}transfer-encoding: chunked\r\n\r\n".encode() + b"fa0\r\n" + b"x" * 4000
    assert b" 413 " in send(guarded, chunked)[:20]


def test_bytes_that_are_not_http_are_refused(guarded):
    answer = send(guarded, b"\x16\x03\x01 hello\r\n\r\n")
    assert b" 400 " in answer[:20]
    assert b"x-plaudit-key" not in answer  # the client has shown no token


def posted(response: str, *headers: str) -> bytes:
    body = json.dumps(samples(response, truth=response)).encode()
    lines = ("POST /score HTTP/1.1", "content-type: application/json", f"content-length: {len(body)}", *headers)
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        (("host: localhost", "content-encoding: gzip"), 415),
        (("host: localhost", "content-length: 3"), 400),
        (("host: localhost", "x-deadline-s: soon"), 422),
        (("host: localhost", "x-deadline-s: -1"), 422),
        (("host: localhost",), 200),
    ],
)
def test_a_header_with_an_invalid_value_is_refused(server, headers, status):
    assert send(server, posted("yes", *headers, "connection: close"))[9:12] == str(status).encode()


def test_requests_sent_ahead_are_answered_in_order(server):
    close = ("host: localhost", "connection: close")
    answered = send(server, posted("slow", "host: localhost") + posted("yes", *close).replace(b"/score", b"/nothing"))
    assert [int(part[:3]) for part in answered.split(b"HTTP/1.1 ")[1:]] == [200, 404]
    assert b'"reward":1.0' in answered


def test_a_chunked_body_is_counted_as_it_arrives():
    with ServerThread(settings("mark", workers=1, queue_bytes=10_000, body_bytes=8_000)) as running:
        body = json.dumps(samples("y" * 6_000)).encode()
        head = b"POST /score HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n"
        chunks = [b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:3_000], body[3_000:])]
        parts = (head + b"transfer-encoding: chunked\r\n\r\n", *chunks, b"0\r\n\r\n")
        assert b" 200 " in send(running, *parts, pause_s=0.05)[:20]
        assert metric(running.address, "plaudit_held_bytes") == 0


@pytest.mark.parametrize("target", ["/%68ealth", "/health?a=b", "http://localhost/health", "http://localhost/health?a"])
def test_a_path_may_be_written_in_every_form_of_http(server, target):
    asked = f"GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    assert b" 200 " in send(server, asked.encode())[:20]


def test_the_number_of_connections_is_limited():
    with ServerThread(settings("mark", workers=1, connections=3)) as running:
        host, port = running.address.removeprefix("http://").split(":")
        idle = [socket.create_connection((host, int(port))) for _ in range(3)]
        wait_until(lambda: ask(running.address, "/health").status == 503)
        for connection in idle:
            connection.close()
        wait_until(lambda: ask(running.address, "/health").status == 200)


def test_a_client_that_does_not_read_its_answers_affects_no_other_client(server):
    host, port = server.address.removeprefix("http://").split(":")
    body = json.dumps({"responses_create_params": {}, "response": {"output": []}, "padding": "x" * (1 << 20)}).encode()
    head = f"POST /verify HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.connect((host, int(port)))
        lazy.settimeout(2)
        sent = 0
        try:
            for _ in range(50):
                lazy.sendall(f"{head}\r\n\r\n".encode() + body)
                sent += 1
        except TimeoutError:
            pass
        assert sent < 50  # the server stopped reading
        assert ask(server.address, "/score", samples("yes")).status == 200


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


def test_tls_uses_the_given_files_and_reads_them_again_on_reload(tmp_path):
    certificate, key, other_key = tmp_path / "cert.pem", tmp_path / "key.pem", tmp_path / "other.pem"
    make_certificate(certificate, key)
    with ServerThread(settings("mark", tls_certificate=certificate, tls_key=key, workers=1)) as running:
        assert running.address.startswith("https://")
        assert b" 200 " in ask_health_with_tls(running, certificate)
        old = certificate.read_bytes()
        make_certificate(certificate, other_key)
        running.run(running.server.reload())  # the new certificate does not fit the key: the old one stays
        (tmp_path / "old.pem").write_bytes(old)
        assert b" 200 " in ask_health_with_tls(running, tmp_path / "old.pem")
        other_key.rename(key)
        running.run(running.server.reload())
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


def test_a_weak_sandbox_serves_other_machines_only_with_an_option(monkeypatch):
    monkeypatch.setattr("plaudit.serving.app.reward_pools.diagnose", lambda: Diagnosis(Tier.SECCOMP, ()))
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


def test_a_server_whose_workers_end_while_they_start_says_so(tmp_path):
    file = tmp_path / "ends.py"
    file.write_text("import os\n\nos._exit(3)\n\n\ndef reward(response):\n    return 1.0\n")
    with pytest.raises(ScoringFailed, match=r"workers die while they start \(exit code 3\)"):
        ServerThread(ServerSettings(rewards=(f"{file}:reward",), port=0, workers=2)).__enter__()
