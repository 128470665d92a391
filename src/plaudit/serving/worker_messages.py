"""Messages between the server and its workers."""

import msgspec

__all__ = ["Answer", "WorkerRequest", "decode_answer", "encode_answer", "encode_request", "read_request"]


class WorkerRequest(msgspec.Struct, array_like=True):
    """The body of an HTTP request in some protocol; `packed` says that it is msgpack."""

    protocol: str
    body: bytes = b""
    packed: bool = False


class Answer(msgspec.Struct, array_like=True):
    """The HTTP status, the body, the number of samples by status, and whether the body is msgpack."""

    status: int
    body: bytes
    counts: dict[str, int] = {}
    packed: bool = False


_encoder = msgspec.msgpack.Encoder()
encode_request = encode_answer = _encoder.encode
read_request = msgspec.msgpack.Decoder(WorkerRequest).decode
decode_answer = msgspec.msgpack.Decoder(Answer).decode
