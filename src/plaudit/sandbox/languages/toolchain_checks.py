"""Try the tools of each language with a program that adds two numbers and reaches for a file, which it must not get.

Run once per process before a language is used, so that what is wrong with a machine never counts as a program's
failure. `plaudit doctor` shows all of them.
"""

import threading
from dataclasses import dataclass

from plaudit.errors import SandboxError
from plaudit.sandbox.confined_process import RunLimits
from plaudit.sandbox.languages.compiling import CompileError
from plaudit.sandbox.languages.language import LANGUAGES, Language
from plaudit.sandbox.languages.running import CommandPool
from plaudit.sandbox.languages.toolchains import MissingToolchain, Toolchain, find_toolchain, missing

__all__ = ["ToolchainReport", "check_toolchains", "usable_toolchain"]

CANARY_LIMITS = RunLimits(cpu_s=20.0, wall_s=120.0)
GIVEN, EXPECTED = b"3 4\n", b"7 refused\n"
CANARIES = {
    "c": """
#include <stdio.h>
int main(void) {
    int a, b;
    if (scanf("%d %d", &a, &b) != 2) return 1;
    printf("%d %s\\n", a + b, fopen("/etc/passwd", "r") ? "possible" : "refused");
    return 0;
}
""",
    "cpp": """
#include <fstream>
#include <iostream>
int main() {
    int a, b;
    std::cin >> a >> b;
    std::cout << a + b << (std::ifstream("/etc/passwd") ? " possible" : " refused") << std::endl;
}
""",
    "javascript": """
const fs = require("fs");
const [a, b] = fs.readFileSync(0, "utf8").split(" ").map(Number);
let reached = "refused";
try { fs.readFileSync("/etc/passwd"); reached = "possible"; } catch (error) {}
console.log(a + b, reached);
""",
    "rust": """
use std::io::Read;
fn main() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let sum: i64 = text.split_whitespace().map(|word| word.parse::<i64>().unwrap()).sum();
    let reached = if std::fs::File::open("/etc/passwd").is_ok() { "possible" } else { "refused" };
    println!("{} {}", sum, reached);
}
""",
    "go": """
package main

import (
	"fmt"
	"os"
)

func main() {
	var a, b int
	fmt.Scan(&a, &b)
	reached := "possible"
	if _, err := os.Open("/etc/passwd"); err != nil {
		reached = "refused"
	}
	fmt.Println(a+b, reached)
}
""",
    "java": """
import java.util.Scanner;
public class Main {
    public static void main(String[] arguments) {
        Scanner given = new Scanner(System.in);
        String reached = "possible";
        try { new java.io.FileInputStream("/etc/passwd").read(); } catch (Exception error) { reached = "refused"; }
        System.out.println((given.nextInt() + given.nextInt()) + " " + reached);
    }
}
""",
}

_usable: set[str] = set()
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class ToolchainReport:
    """One language on this machine: whether its programs can be run, which tools they are, or what to do."""

    language: str
    title: str
    usable: bool
    version: str = ""
    detail: str = ""


def usable_toolchain(language: Language, pool: CommandPool) -> Toolchain:
    """The tools of a language, tried once per process; MissingToolchain where they cannot be used."""
    toolchain = find_toolchain(language)
    with _lock:
        if language.name not in _usable:
            _try(toolchain, pool)
            _usable.add(language.name)
    return toolchain


def check_toolchains(pool: CommandPool) -> list[ToolchainReport]:
    """What can be run on this machine, language by language."""
    return [_report(language, pool) for language in LANGUAGES.values()]


def _report(language: Language, pool: CommandPool) -> ToolchainReport:
    try:
        toolchain = find_toolchain(language)
        _try(toolchain, pool)
    except SandboxError as error:
        return ToolchainReport(language.name, language.title, usable=False, detail=str(error))
    return ToolchainReport(language.name, language.title, usable=True, version=toolchain.version)


def _try(toolchain: Toolchain, pool: CommandPool) -> None:
    language = toolchain.language
    canary = CANARIES[language.family]
    try:
        with pool.load(toolchain, canary, CANARY_LIMITS) as program:
            outcome = program.run(GIVEN)
    except CompileError as error:
        raise missing(language, f"{toolchain.tool} does not compile a right program ({error})") from None
    except MissingToolchain:
        raise
    except SandboxError as error:
        raise missing(language, str(error)) from error
    if outcome.stdout != EXPECTED:
        said = outcome.stdout.decode(errors="replace") or outcome.stderr.decode(errors="replace")
        raise missing(language, f"a program that must print {EXPECTED!r} printed {said[-300:]!r} ({outcome.reason})")
