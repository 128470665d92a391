"""Nothing that a program in another language tries has an effect outside, whoever runs it and whichever walls stand."""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from plaudit.sandbox import Tier
from tests.process_watch import descendants
from tests.sandbox.identities import IDENTITIES, as_identity

PROBE = Path(__file__).with_name("language_probe.py")
TOOLS = {"cpp": "g++", "javascript": "node"}
LEAST_HARMS = {"cpp": 28, "javascript": 21}
ENDS = {
    "loop": "over the limit of",
    "loop deaf": "over the limit of",
    "sleep": "over the limit of time",
    "flood output": "printed too much",
    "flood errors": "printed too much",
    "flood deaf": "printed too much",
    "crash": "crashed",
}


def probe(identity: str, language: str, at_most: Tier, folder: Path) -> dict:
    folder.chmod(0o777)
    (folder / "secret.txt").write_text("hush")
    command = as_identity(identity, PROBE, language, str(int(at_most)), str(folder))
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("at_most", [Tier.NAMESPACES, Tier.LANDLOCK], ids=lambda tier: tier.name.lower())
@pytest.mark.parametrize("identity", IDENTITIES)
@pytest.mark.parametrize("language", TOOLS)
def test_no_harm_has_an_effect(identity, language, at_most):
    if identity == "no capabilities" and at_most is Tier.LANDLOCK:
        at_most = Tier.NAMESPACES  # it has none; that it asks for them makes no difference
    with tempfile.TemporaryDirectory(prefix="plaudit-harms-") as name:
        folder = Path(name)
        if not shutil.which(TOOLS[language]):
            with pytest.raises(AssertionError, match="cannot be run here"):
                probe(identity, language, at_most, folder)
            return
        found = probe(identity, language, at_most, folder)
        left = {path.name for path in folder.iterdir() if not path.name.startswith("cache-")}
        assert (folder / "secret.txt").read_text() == "hush"
    assert len(found) >= LEAST_HARMS[language], found
    assert {harm: told["harms"] for harm, told in found.items() if told["harms"]} == {}
    assert {
        harm: found[harm]["reason"] for harm, end in ENDS.items() if not found[harm]["reason"].startswith(end)
    } == {}
    assert left == {"secret.txt"}
    assert not Path("/tmp/plaudit-harm").exists()
    assert descendants() == set()
