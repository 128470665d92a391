"""What the head of a request says beyond the grammar of HTTP/1.1."""

from urllib.parse import unquote

__all__ = ["ONLY_ONCE", "head_without_offer", "plain_path", "unfit_head"]

ONLY_ONCE = frozenset({
    b"authorization", b"content-encoding", b"content-type", b"expect", b"host", b"idempotency-key", b"origin",
    b"transfer-encoding", b"x-client", b"x-deadline-s", b"x-request-id",
})  # fmt: skip
"""Headers that are read here: where there are two, whoever stands between may have read the other one."""


def plain_path(target: bytes) -> str:
    """The path that is asked for, however it is written: as a whole URL, as to a proxy, or with escapes."""
    path = target.partition(b"?")[0] if b"?" in target else target
    if not path.startswith(b"/") and b"://" in path:
        path = b"/" + path.partition(b"://")[2].partition(b"/")[2]
    return unquote(path.decode("latin-1")) if b"%" in path else path.decode("latin-1")


def unfit_head(headers: dict[bytes, bytes], twice: bytes, version: str) -> tuple[int, str] | None:
    """What is wrong with a head that the grammar allows, as a status and words; `twice` is a header it has twice."""
    if twice:
        return 400, f"two headers {twice.decode()}; send one"
    if b"host" not in headers and version != "1.0":
        return 400, "a request names the host that it is for"
    if headers.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
        return 501, "transfer-encoding: chunked is the only one that is read here"
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        return 415, "send the body as it is, without content-encoding"
    return None


def head_without_offer(start: tuple[bytes, bytes, bytes], headers: dict[bytes, bytes]) -> bytes:
    """A head (method, target, version; headers) that offers to go on in another protocol, without the offer."""
    wishes = [wish.strip().lower() for wish in headers.get(b"connection", b"").split(b",")]
    kept = {**headers, b"connection": b",".join(wish for wish in wishes if wish != b"upgrade")}
    lines = [b"%b: %b\r\n" % each for each in kept.items() if each[0] != b"upgrade"]
    return b"%b %b HTTP/%b\r\n%b\r\n" % (*start, b"".join(lines))
