"""How many cores there are to judge on."""

import subprocess
import sys

from plaudit.sandbox.cores import cores


def test_a_process_that_took_a_share_counts_on_no_more():
    code = "from plaudit.sandbox.cores import *; take_share(3); print(cores()); take_share(0); print(cores())"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["3", "1"]
    assert cores() >= 1
