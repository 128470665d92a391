"""Libraries are moved under a running interpreter, which goes on as if nothing had happened."""

import json
import platform
import subprocess
import sys

MOVING = """
import ctypes, decimal, json, math, re, unicodedata, zlib
from plaudit.sandbox.child.libraries import move_libraries
def mappings():
    with open("/proc/self/maps") as file:
        return file.read().splitlines()
def work():
    text = json.dumps([str(decimal.Decimal(n) / 7) for n in range(200)])
    return zlib.crc32(re.sub("1+", unicodedata.name("x"), text).encode()) + math.isqrt(10**40)
before, first = len(mappings()), work()
move_libraries()
after, again = mappings(), work()
libraries = [line for line in after if ".so" in line]
print(json.dumps([before, len(after), len(libraries), first == again]))
"""


def test_libraries_become_one_mapping_and_still_work():
    done = subprocess.run([sys.executable, "-c", MOVING], capture_output=True, text=True, timeout=60, check=True)
    before, after, libraries, same = json.loads(done.stdout)
    assert same
    if platform.machine() == "x86_64":
        assert after < before / 2
        assert libraries <= 8  # the loader, beside what the kernel has mapped
