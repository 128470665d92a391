"""Chromium for the tests of the report's page; run as a script, it tells by its exit code whether there is one."""

import os
import shutil
import sys

NO_CHROMIUM = (
    "left out: the tests of the report's page, since there is no Chromium here; "
    "`apt install chromium`, or CHROMIUM=/path/to/it, then run them again"
)


def find_chromium() -> str | None:
    """Where Chromium is: what CHROMIUM says, or one of the usual names."""
    names = [os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    return next((found for name in names if name and (found := shutil.which(name))), None)


if __name__ == "__main__":
    sys.exit(find_chromium() is None)
