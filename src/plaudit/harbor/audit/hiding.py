"""The contents that a file hides: the members of an archive, compressed contents, encoded texts."""

import base64
import bz2
import codecs
import gzip
import io
import lzma
import re
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress

MOST_DECODED = 40
_DECODERS: tuple[Callable[[bytes], bytes], ...] = (
    lambda text: base64.b64decode(text, validate=True),
    base64.urlsafe_b64decode,
    base64.b32decode,
    base64.b85decode,
    lambda text: bytes.fromhex(text.decode()),
)
_ENCODED = re.compile(rb"[\w+/=-]{12,}")


def read_members(content: bytes) -> dict[str, bytes]:
    """The files of an archive; the one content of a compressed file has the name `content`."""
    with suppress(tarfile.TarError, EOFError, OSError), tarfile.open(fileobj=io.BytesIO(content)) as opened:
        files = ((each.name, opened.extractfile(each)) for each in opened if each.isreg())
        return {name: file.read() for name, file in files if file is not None}
    with suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {each.filename: archive.read(each) for each in archive.infolist() if not each.is_dir()}
    for module in (gzip, bz2, lzma):
        with suppress(OSError, EOFError, lzma.LZMAError):
            return {"content": module.decompress(content)}
    return {}


def hidden_in(content: bytes, depth: int = 2) -> dict[str, bytes]:
    """Everything that is packed or encoded in a file, by where it is, down to `depth` layers."""
    texts = read_members(content) or _decoded(content)
    inner = {
        f"{name}, {other}": text
        for name, each in (texts.items() if depth > 1 else ())
        for other, text in hidden_in(each, depth - 1).items()
    }
    return {**texts, **inner}


def _decoded(content: bytes) -> dict[str, bytes]:
    decoded: dict[str, bytes] = {}
    joined = b"".join(content.split())
    for word in list(dict.fromkeys([joined, *_ENCODED.findall(content)]))[:MOST_DECODED]:
        for decode in _DECODERS:
            with suppress(ValueError):
                decoded[f"text {len(decoded) + 1} decoded"] = decode(word)
    with suppress(UnicodeDecodeError):
        decoded["its letters moved by 13"] = codecs.encode(content.decode(), "rot13").encode()
    return decoded
