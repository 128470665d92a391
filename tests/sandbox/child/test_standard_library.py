"""Programs have the whole standard library that works without files, network, terminal and display."""

import re
import sys
from pathlib import Path

import pytest

from plaudit.sandbox import CallStatus, RunLimits, Sandbox
from plaudit.sandbox.judging.plan.modules import NOT_OFFERED

GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "code.md"
USES = {
    "bz2": "bz2.decompress(bz2.compress(b'x' * 99)) == b'x' * 99",
    "lzma": "lzma.decompress(lzma.compress(b'x' * 99)) == b'x' * 99",
    "zlib": "zlib.decompress(zlib.compress(b'x' * 99)) == b'x' * 99",
    "gzip": "gzip.decompress(gzip.compress(b'x' * 99)) == b'x' * 99",
    "zoneinfo": "str(zoneinfo.ZoneInfo('Etc/GMT-9').utcoffset(None)) == '9:00:00'"
    " and 'Europe/Berlin' in zoneinfo.available_timezones()",
    "cProfile": "cProfile.Profile().runcall(len, 'ab') == 2",
    "sqlite3": "sqlite3.connect(':memory:').execute('select 1 + 1').fetchall() == [(2,)]",
    "decimal": "str(decimal.Decimal(1) / 3)[:4] == '0.33'",
    "ctypes": "ctypes.c_int32(1 << 31).value == -(1 << 31)",
    "asyncio": "asyncio.run(asyncio.sleep(0, 'x')) == 'x'",
    "xml.etree.ElementTree": "xml.etree.ElementTree.fromstring('<a><b/></a>')[0].tag == 'b'",
    "hashlib": "hashlib.sha256(b'x').hexdigest()[:4] == '2d71' and hashlib.pbkdf2_hmac('sha256', b'p', b's', 1)"
    " if hasattr(hashlib, 'pbkdf2_hmac') else hashlib.sha256",
    "unittest": "unittest.TestCase().assertEqual(1, 1) is None",
    "codecs": "codecs.encode('\u65e5', 'shift_jis') and codecs.encode('\u4e2d', 'gb2312')",
    "uuid": "uuid.uuid4().version == 4 and uuid.uuid1().version == 1",
    "platform": "platform.node() == 'sandbox'",
    "concurrent.futures": "list(concurrent.futures.ThreadPoolExecutor(2).map(abs, [-1])) == [1]",
}


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(limits=RunLimits(cpu_s=10.0, wall_s=60.0)) as sandbox:
        yield sandbox


@pytest.mark.parametrize("module", USES)
def test_a_module_that_works_without_files_works(sandbox, module):
    with sandbox.open() as program:
        assert program.load(f"import {module}\ndef works(): return bool({USES[module]})").status is CallStatus.RETURNED
        assert program.call("works").value is True


def not_offered() -> set[str]:
    """The modules that the guide lists as not offered."""
    line = re.search(r"^Not offered: (.*?)\.\n\n", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`(\w+)`", line[1]))


def is_offered(module, sandbox):
    with sandbox.open() as program:
        return program.load(f"import {module}").status is CallStatus.RETURNED


def test_every_public_module_is_offered_but_those_that_the_guide_lists(sandbox):
    on_other_systems = {"msilib", "msvcrt", "nt", "winreg", "winsound"}
    public = {name for name in sys.stdlib_module_names if not name.startswith("_")} - on_other_systems
    missing = {name for name in public if not is_offered(name, sandbox)}
    assert missing == not_offered() & public
    assert not_offered() == NOT_OFFERED


def test_modules_outside_the_standard_library_are_not_offered(sandbox):
    assert not is_offered("numpy", sandbox)
    assert not is_offered("no_such_module", sandbox)
    assert is_offered("os.path", sandbox)
