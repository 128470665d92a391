"""SmolLM2-135M-Instruct behind transformers' own OpenAI-compatible server, in a thread of this process."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from plaudit.models.locating import locate_model


@contextmanager
def serving_smollm2(*, keeps_prefixes: bool = False) -> Iterator[tuple[str, str]]:
    """The address of the server and the name of the model.

    With `keeps_prefixes` it batches continuously: beginnings that calls share are computed once, in pages of 32 tokens.
    """
    from transformers.cli.serve import Serve

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = locate_model("smollm2", purpose="the tests").path
    paged = {"cb_block_size": 32, "cb_num_blocks": 64, "cb_max_batch_tokens": 1024} if keeps_prefixes else {}
    server = Serve(
        force_model=folder,
        continuous_batching=keeps_prefixes,
        device="cpu",
        dtype="float32",
        host="127.0.0.1",
        port=port,
        log_level="error",
        non_blocking=True,
        **paged,
    )
    try:
        while not server.server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/v1", folder
    finally:
        server.kill_server()
        server._thread.join()
