"""The lines of a byte stream, plain or gzip, as an interrupted writer may have left them.

What a crash leaves at the end of a file is not an error: half a last line, or half a gzip member, is held back and
noted as `torn`. Everything before it is given whole.
"""

import io
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from plaudit import jsonline
from plaudit.errors import RolloutsError

__all__ = ["CHUNK", "GzipMembers", "Lines", "is_torn"]

BOM = b"\xef\xbb\xbf"
UTF16 = (b"\xff\xfe", b"\xfe\xff")
CHUNK = 1 << 16


class Lines:
    """The lines of a stream that are not blank, with their numbers; `torn` once half a line was met at the end."""

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self.stream = stream
        self.name = name
        self.torn = False

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        for number, line in enumerate(self._lines(), 1):
            if number == 1:
                if line.startswith(UTF16):
                    raise RolloutsError(f"{self.name}:1: not UTF-8 but UTF-16; save the file as UTF-8")
                line = line.removeprefix(BOM)
            if not line.endswith(b"\n") and is_torn(line):
                self.torn = True
            elif line and not line.isspace():
                yield number, line

    def _lines(self) -> Iterator[bytes]:
        number = 0
        try:
            for number, line in enumerate(self.stream, 1):  # noqa: B007 - the message says how far it came
                yield line
        except zlib.error as error:
            raise RolloutsError(f"{self.name}: the gzip data is broken after line {number} ({error})") from None
        except OSError as error:
            raise RolloutsError(f"cannot read {self.name}: {error.strerror}") from error


def is_torn(line: bytes) -> bool:
    """Whether a last line without newline is the beginning of a JSON object: what an interrupted write leaves."""
    if not line.removeprefix(BOM).lstrip().startswith(b"{"):
        return False
    try:
        jsonline.decode(line)
    except jsonline.TruncatedJSON:
        return True
    except jsonline.InvalidJSON:
        return False
    return False


class GzipMembers(io.RawIOBase):
    """The text of a gzip file of one or more members; `torn` when the last one lacks its end.

    Unlike `gzip.open`, it gives everything that can be read of a torn member before it ends.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.torn = False
        self._file = file
        self._inflate = zlib.decompressobj(wbits=31)
        self._begun = False
        self._packed = b""
        self._ready = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        if not self._ready:
            self._ready = self._more()
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def _more(self) -> bytes:
        while self._fill():
            self._begun = True
            text = self._inflate.decompress(self._packed, CHUNK)
            self._packed = self._inflate.unconsumed_tail
            if self._inflate.eof:
                self._packed = self._inflate.unused_data
                self._inflate = zlib.decompressobj(wbits=31)
                self._begun = False
            if text:
                return text
        if self.torn or not self._begun:
            return b""
        self.torn = True
        return self._inflate.flush()

    def _fill(self) -> bool:
        """Have packed bytes at hand; between members, zeros are padding (as tapes and some tools leave it)."""
        while True:
            if not self._begun:
                self._packed = self._packed.lstrip(b"\0")
            if self._packed:
                return True
            self._packed = self._file.read(CHUNK)
            if not self._packed:
                return False
