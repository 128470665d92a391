"""SmolLM2-135M-Instruct behind transformers' own OpenAI-compatible server, in a thread of this process."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from plaudit.training import unpacked_model


@contextmanager
def serving_smollm2() -> Iterator[tuple[str, str]]:
    """The address of the server and the name of the model."""
    from transformers.cli.serve import Serve

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = str(unpacked_model("smollm2"))
    server = Serve(
        force_model=folder,
        device="cpu",
        dtype="float32",
        host="127.0.0.1",
        port=port,
        log_level="error",
        non_blocking=True,
    )
    try:
        while not server.server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/v1", folder
    finally:
        server.kill_server()
        server._thread.join()
