"""One small task in every language: read two whole numbers, print their sum."""

import shutil

import pytest

from plaudit.sandbox.languages.language import LANGUAGES
from plaudit.sandbox.languages.toolchains import MissingToolchain, find_toolchain

__all__ = ["ADD", "FOUND", "is_installed"]

ADD = {
    "c": '#include <stdio.h>\nint main(void) { long a, b; scanf("%ld %ld", &a, &b);\n    printf("%ld\\n", a + b); }\n',
    "cpp": "#include <iostream>\nusing namespace std;\nint main() {\n    long a, b;\n    cin >> a >> b;\n"
    "    cout << a + b << endl;\n}\n",
    "javascript": "const [a, b] = require('fs').readFileSync('/dev/stdin', 'utf8').split(/\\s+/).map(Number);\n"
    "console.log(a + b);\n",
    "rust": "use std::io::*;\nfn main() {\n    let mut text = String::new();\n"
    "    stdin().read_to_string(&mut text).unwrap();\n"
    '    println!("{}", text.split_whitespace().map(|word| word.parse::<i64>().unwrap()).sum::<i64>());\n}\n',
    "go": 'package main\n\nimport "fmt"\n\nfunc main() {\n\tvar a, b int;fmt.Scan(&a, &b)\n\tfmt.Println(a + b)\n}\n',
    "java": "import java.util.*;\n\nclass Helper { static long add(long a, long b) { return a + b; } }\n\n"
    "public class Solve {\n    public static void main(String[] given) {\nScanner in = new Scanner(System.in);\n"
    "        System.out.println(Helper.add(in.nextLong(), in.nextLong()));\n    }\n}\n",
}
# Those whose tools are installed: where they do not work, tests fail.
FOUND = [name for name, language in LANGUAGES.items() if any(map(shutil.which, language.tools))]


def is_installed(name: str) -> bool:
    """Whether the tools of a language are here; where not, that is said with what to install."""
    if name in FOUND:
        return True
    with pytest.raises(MissingToolchain) as told:
        find_toolchain(LANGUAGES[name])
    assert LANGUAGES[name].remedy in str(told.value)
    return False
