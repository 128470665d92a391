"""The file that `plaudit export` writes: it builds a reward from its spec and gives it the name its trainer looks for.

Files that the spec names are looked up relative to the shim, or else at their absolute path on this machine.
"""

import re
import shlex
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from plaudit.exports.convention import Export

_PATH = re.compile(r"""(?<=['"])[^'"]+?\.(?:py|ya?ml|json)(?=[:'"])|[^\s'"(),:]+\.(?:py|ya?ml|json)\b""")
_WHOLE = re.compile(r".+?\.(?:py|ya?ml|json)(?=:|$)")


@cache
def _templates() -> dict[str, dict[str, str]]:
    return tomllib.loads(files("plaudit.exports").joinpath("shims.toml").read_text(encoding="utf-8"))


def shim_text(export: Export, spec: str, file: Path, *, name: str, options: Mapping[str, Any], command: str) -> str:
    """The source of the shim `file`."""
    template = _templates()[export.name]
    written, is_relative = _portable(spec, file)
    keywords = "".join(f", {key}={value!r}" for key, value in options.items())
    usage = "\n".join(f"    {line}".rstrip() for line in usage_lines(export, name, file).splitlines())
    lines = [f'"""The reward {name} for {export.title}, written by `{_quoted(command)}`. To use it:', ""]
    lines += [_quoted(usage), '"""', ""]
    lines += ["from pathlib import Path", ""] if is_relative else []
    lines += ["import plaudit", *([template["imports"]] if "imports" in template else []), ""]
    lines += ["_HERE = Path(__file__).resolve().parent"] if is_relative else []
    lines += [f"{template.get('entry', 'reward')} = plaudit.export({written}, {export.name!r}{keywords})"]
    if "setup" in template:
        lines += ["", "", template["setup"].format(name=name, title=_title(name)).rstrip("\n")]
    return "\n".join([*lines, ""])


def usage_lines(export: Export, name: str, file: Path) -> str:
    """The flags or lines of code that make the trainer use a shim."""
    usage = _templates()[export.name]["usage"]
    return usage.format(file=file, argument=shlex.quote(str(file)), module=file.stem, name=name)


def _quoted(text: str) -> str:
    """The text escaped for a docstring."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _portable(spec: str, file: Path) -> tuple[str, bool]:
    """The spec as a Python literal in which paths do not depend on the current folder."""
    folder = file.resolve().parent
    is_relative = False

    def portable_path(match: re.Match[str]) -> str:
        nonlocal is_relative
        path = Path(match[0]).expanduser().resolve()
        if not path.exists():
            return match[0]
        if not path.is_relative_to(folder):
            return path.as_posix()
        is_relative = True
        return f"{{_HERE}}/{path.relative_to(folder).as_posix()}"

    escaped = spec.replace("{", "{{").replace("}", "}}")
    whole = _WHOLE.match(escaped)  # the spec is a path, which may hold spaces
    written = (_WHOLE if whole and Path(whole[0]).expanduser().exists() else _PATH).sub(portable_path, escaped)
    return (f"f{written!r}", True) if is_relative else (repr(written.replace("{{", "{").replace("}}", "}")), False)


def _title(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))
