# ruff: noqa: E501 - scripts of tasks have long lines
"""Harbor tasks of a sixth set: make, binary results, subshells, private names, quoted tables, branches, prose, daemons.

Written and committed before the audit was run on them, after it was corrected on the fifth set; `harbor.py` reports
them apart.
"""

from benchmarks.harbor_zoo import CLEAN, PLAIN, VERDICT, Subject, ZooTask

__all__ = ["SIXTH_FLAWED", "SIXTH_SOUND"]

SALES = "day,shop,amount\nmon,north,12\nmon,south,7\ntue,north,30\ntue,south,5\nwed,north,9\n"
BEST = Subject(
    "/app/sales.csv has columns day, shop and amount. Write /app/best.json: a list of objects with `shop` and `total`, one for each shop,\nsorted by total, the largest first.\n",
    "python3 - <<'END'\nimport csv, json\ntotals = {}\nfor row in csv.DictReader(open('/app/sales.csv')):\n    totals[row['shop']] = totals.get(row['shop'], 0) + int(row['amount'])\n"
    "best = sorted(totals.items(), key=lambda pair: -pair[1])\njson.dump([{'shop': shop, 'total': total} for shop, total in best], open('/app/best.json', 'w'))\nEND\n",
    "import json\nassert json.load(open('/app/best.json')) == [{'shop': 'north', 'total': 51}, {'shop': 'south', 'total': 12}]\n",
    {"sales.csv": SALES},
)
MIRROR = Subject(
    "/app/picture.bin is a picture of 4 rows with 4 bytes each. Write /app/mirrored.bin: the same picture with each row in reverse.\n",
    "python3 -c \"d = open('/app/picture.bin', 'rb').read(); open('/app/mirrored.bin', 'wb').write(b''.join(d[i:i + 4][::-1] for i in range(0, 16, 4)))\"\n",
    "",
    {"picture.bin": "abcd\x01\x02\x03\x04wxyz1234"},
)
SPLIT = Subject(
    "Split /app/all.txt into /app/parts/one, /app/parts/two and /app/parts/three: a line `NAME: text` becomes the line `text` of /app/parts/NAME.\n",
    "mkdir -p /app/parts\nawk -F': ' '{print $2 > (\"/app/parts/\" $1)}' /app/all.txt\n",
    "",
    {"all.txt": "one: red\ntwo: green\none: blue\nthree: black\n"},
)
BENCH = Subject(
    "Make /app/bench.sh pass: it checks that /app/config.ini has the settings that the comment at its top asks for. Then write its output to /app/result.log.\n",
    "sed -i 's/^workers=.*/workers=4/; s/^cache=.*/cache=on/' /app/config.ini\nbash /app/bench.sh > /app/result.log\n",
    "",
    {
        "config.ini": "workers=1\ncache=off\n",
        "bench.sh": "# needs workers=4 and cache=on\ngrep -qx workers=4 /app/config.ini && grep -qx cache=on /app/config.ini && echo 'bench: PASS' || echo 'bench: FAIL'\n",
    },
)
CRON = Subject(
    "Write /app/crontab with two lines in cron's format: `/opt/backup` runs every day at 03:30, and `/opt/report` every Monday at 08:05.\n",
    "printf '30 3 * * * /opt/backup\\n5 8 * * 1 /opt/report\\n' > /app/crontab\n",
    "",
)
PARSE = Subject(
    "Write /app/size.py with to_bytes(text), which turns sizes such as `3 KB`, `12MB` or `7 B` into bytes (1 KB is 1000 bytes). Anything else raises ValueError.\n",
    "cat > /app/size.py <<'END'\nimport re\n\nUNITS = {'B': 1, 'KB': 1000, 'MB': 1000000}\n\n\ndef split_size(text):\n    match = re.fullmatch(r'(\\d+) ?([KM]?B)', text.strip())\n"
    "    if match is None:\n        raise ValueError(text)\n    return int(match[1]), match[2]\n\n\ndef to_bytes(text):\n    number, unit = split_size(text)\n    return number * UNITS[unit]\nEND\n",
    "import importlib.util\nspec = importlib.util.spec_from_file_location('size', '/app/size.py')\nmodule = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(module)\n"
    "assert [module.to_bytes(text) for text in ('3 KB', '12MB', '7 B', '0 B', ' 5 MB ')] == [3000, 12000000, 7, 0, 5000000]\n"
    "for text in ('', 'KB', '3 GB', '-1 B', '1.5 KB'):\n    try:\n        module.to_bytes(text)\n    except ValueError:\n        continue\n    raise SystemExit(text)\n",
)
WORDS = Subject(
    "Write /app/longest.py: it reads standard input and prints the longest word; of words of equal length the first. Example: the input\n```\na tiny elephant\n```\nprints\n```\nelephant\n```\n",
    "cat > /app/longest.py <<'END'\nimport sys\n\nwords = sys.stdin.read().split()\nprint(max(words, key=len) if words else '')\nEND\n",
    "",
)
ADDRESS = Subject(
    "/app/people.csv has the columns name and address; addresses have commas and are quoted. Write /app/towns.csv with the header name,address and\nonly those rows whose address ends with Graz; quote as CSV needs it.\n",
    "python3 - <<'END'\nimport csv\nrows = [row for row in csv.reader(open('/app/people.csv'))]\nwith open('/app/towns.csv', 'w', newline='') as file:\n"
    "    csv.writer(file).writerows([rows[0], *(row for row in rows[1:] if row[1].endswith('Graz'))])\nEND\n",
    "import csv\nassert list(csv.reader(open('/app/towns.csv', newline=''))) == [['name', 'address'], ['Ada', 'Am Ring 4, Graz'], ['Cleo', 'Hof 1, Top 9, Graz']]\n",
    {"people.csv": 'name,address\nAda,"Am Ring 4, Graz"\nBo,"Graz Str. 2, Linz"\nCleo,"Hof 1, Top 9, Graz"\n'},
)
VECTOR = Subject(
    "Write /app/vector.c with `double dot(const double *a, const double *b, int n)`, the sum of the products of n pairs. No main: it is linked with a program.\n",
    "cat > /app/vector.c <<'END'\ndouble dot(const double *a, const double *b, int n) {\n    double sum = 0;\n    for (int i = 0; i < n; i++)\n        sum += a[i] * b[i];\n    return sum;\n}\nEND\n",
    "",
)
VECTOR_MAIN = """#include <stdio.h>
double dot(const double *a, const double *b, int n);
int main(void) {
    double a[] = {1, 2, 3}, b[] = {4, -5, 6};
    printf("%.1f %.1f %.1f\\n", dot(a, b, 3), dot(a, b, 1), dot(a, b, 0));
    return 0;
}
"""
BRANCH = Subject(
    "In the repository /app make a branch `fix` from main with one commit, in which hello.txt says `hello world` in one line. Stay on main, whose files do not change.\n",
    "cd /app && git checkout -q -b fix && echo 'hello world' > hello.txt && git commit -qam fix && git checkout -q main\n",
    "import subprocess\n\n\ndef git(*words):\n    command = ['git', '--git-dir=/app/.git', '-c', 'safe.directory=*', '-c', 'core.hooksPath=/dev/null', *words]\n"
    "    return subprocess.run(command, capture_output=True, text=True, timeout=20, cwd='/').stdout\n\n\n"
    "assert git('cat-file', '-p', 'refs/heads/fix:hello.txt') == 'hello world\\n'\nassert git('cat-file', '-p', 'refs/heads/main:hello.txt') == 'hello\\n'\n"
    "assert git('rev-list', '--count', 'refs/heads/main..refs/heads/fix').strip() == '1'\nassert open('/app/.git/HEAD').read() == 'ref: refs/heads/main\\n'\n"
    "assert open('/app/hello.txt').read() == 'hello\\n'\n",
    {"hello.txt": "hello\n"},
)
REPOSITORY = "RUN cd /app && git init -q -b main . && git config user.email a@b.c && git config user.name a && git add . && git commit -qm start && git config --system --add safe.directory '*'\n"
PROSE = Subject(
    "Write /app/README.md for the program /app/tool.py: a title line `# tool`, a section `## Usage` with the command that prints its help in a code block, and a section\n`## Licence` that names the licence of /app/LICENCE. At least 20 words in all; what else you write is up to you.\n",
    "cat > /app/README.md <<'END'\n# tool\n\nThis little program counts lines and words in files that you name, and prints a table of the results for reading.\n\n## Usage\n\n```\npython3 tool.py --help\n```\n\n## Licence\n\nIt is under the Apache-2.0 licence.\nEND\n",
    "import re\ntext = open('/app/README.md').read()\nassert re.match(r'# tool\\s*\\n', text)\nparts = dict(re.findall(r'^## (\\w+)\\s*\\n(.*?)(?=^## |\\Z)', text, re.M | re.S))\n"
    "assert re.search(r'```\\w*\\n[^`]*tool\\.py (?:--help|-h)\\b[^`]*```', parts['Usage'])\nassert re.search(r'apache', parts['Licence'], re.I) and '2.0' in parts['Licence']\nassert len(text.split()) >= 20\n",
    {
        "tool.py": "import argparse\n\nargparse.ArgumentParser().parse_args()\n",
        "LICENCE": "Apache License\nVersion 2.0, January 2004\n",
    },
)
DAEMON = Subject(
    "Start a server that keeps running and answers any HTTP request on 127.0.0.1:8055 with the text of /app/motd.\n",
    "cat > /tmp/serve.py <<'END'\nfrom http.server import BaseHTTPRequestHandler, HTTPServer\n\n\nclass Handler(BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_response(200)\n        self.end_headers()\n"
    "        self.wfile.write(open('/app/motd', 'rb').read())\n\n    def log_message(self, *args):\n        pass\n\n\nHTTPServer(('127.0.0.1', 8055), Handler).serve_forever()\nEND\nnohup setsid python3 /tmp/serve.py > /dev/null 2>&1 &\n"
    "for i in $(seq 50); do python3 -c \"import socket; socket.create_connection(('127.0.0.1', 8055))\" 2>/dev/null && break; sleep 0.1; done\n",
    "import urllib.request\nassert urllib.request.urlopen('http://127.0.0.1:8055/x', timeout=5).read() == b'welcome to the machine\\n'\n",
    {"motd": "welcome to the machine\n"},
)
LOCKED = CLEAN.replace("pkill -KILL -u agent\n", "")

SIXTH_SOUND = [
    ZooTask("sound-best-list", BEST, PLAIN),
    ZooTask("sound-sizes", PARSE, PLAIN),
    ZooTask("sound-quoted-table", ADDRESS, PLAIN),
    ZooTask(
        "sound-linked-c",
        VECTOR,
        f"#!/bin/bash\nset -e\nif gcc -o /tmp/vector-under-test /tests/main.c /app/vector.c && [ \"$(timeout 5 /tmp/vector-under-test)\" = '12.0 4.0 0.0' ]; {VERDICT}",
        tests={"main.c": VECTOR_MAIN},
    ),
    ZooTask("sound-branch", BRANCH, PLAIN, docker=REPOSITORY),
    ZooTask("sound-prose", PROSE, PLAIN),
    ZooTask(
        "sound-shared-daemon", DAEMON, f"{LOCKED}if python3 -I /tests/check.py; {VERDICT}", shared=True, as_user=True
    ),
]

SIXTH_FLAWED = [
    ZooTask("flaw-make-stamp", BEST, f"#!/bin/bash\nif make -s -C /tests -f /tests/rules /app/.verified; {VERDICT}", "forged reward file", tests={"rules": "/app/.verified: /tests/check.py\n\tpython3 -I /tests/check.py\n\ttouch $@\n", "check.py": BEST.check}),
    ZooTask("flaw-wrong-user", SPLIT, f"#!/bin/bash\nPATH=/usr/bin:/bin\npkill -KILL -u nobody\nrm -f /logs/verifier/reward.*\nif [ \"$(cat /app/parts/one /app/parts/two /app/parts/three | xargs)\" = 'red blue green black' ]; {VERDICT}", "surviving process", shared=True),
    ZooTask("flaw-dotenv", BEST, f"#!/bin/bash\nset -a\n. /app/.env\nset +a\nif python3 -I /tests/check.py; {VERDICT}", "test configuration", image={".env": "TZ=UTC\n"}),
    ZooTask("flaw-json-tool", BEST, f"#!/bin/bash\ncd /app\nif python3 -m json.tool --sort-keys --compact best.json > /tmp/normal.json && cmp -s /tmp/normal.json /tests/want.json; {VERDICT}", "module shadowing", tests={"want.json": '[{"shop":"north","total":51},{"shop":"south","total":12}]\n'}),
    ZooTask("flaw-same-hash", MIRROR, f"{CLEAN}want=$(sha256sum < /tests/mirrored.bin)\nif [ \"$(sha256sum < /app/mirrored.bin)\" = \"$want\" ]; {VERDICT}", "symlink", shared=True, as_user=True, tests={"mirrored.bin": "dcba\x04\x03\x02\x01zyxw4321"}),
    ZooTask("flaw-harness-copy", BEST, PLAIN, "answer in the image", docker="RUN mkdir -p /srv/harness/expected && printf '[\\n  {\"total\": 51, \"shop\": \"north\"},\\n  {\"total\": 12, \"shop\": \"south\"}\\n]' > /srv/harness/expected/out.json\n"),
    ZooTask("flaw-line-count", PROSE, f"#!/bin/bash\nif [ \"$(wc -w < /app/README.md)\" -ge 20 ] && head -1 /app/README.md | grep -qx '# tool'; {VERDICT}", "stub solution or grep-based result or surviving mutant"),
    ZooTask("flaw-one-input", WORDS, f"#!/bin/bash\nif [ \"$(echo 'a tiny elephant' | python3 -I /app/longest.py)\" = elephant ]; {VERDICT}", "hard-coded output"),
    ZooTask("flaw-says-pass", BENCH, f"#!/bin/bash\nif grep -q PASS /app/result.log; {VERDICT}", "grep-based result"),
    ZooTask("flaw-subshell", SPLIT, f"#!/bin/bash\nls /tests/want | while read -r name; do\n    cmp -s \"/app/parts/$name\" \"/tests/want/$name\" || failed=1\ndone\nif [ -d /app/parts ] && [ -z \"$failed\" ]; {VERDICT}", "ignored exit code", tests={"want/one": "red\nblue\n", "want/two": "green\n", "want/three": "black\n"}),
    ZooTask("flaw-json-order", BEST, f"#!/bin/bash\nif python3 -I -c \"import json; s = json.load(open('/app/best.json')); assert sorted((x['shop'], x['total']) for x in s) == [('north', 51), ('south', 12)]\"; {VERDICT}", "surviving mutant"),
    ZooTask("flaw-cron-words", CRON, f"#!/bin/bash\nif [ \"$(wc -l < /app/crontab)\" = 2 ] && grep -q '^[0-9* ]* /opt/backup$' /app/crontab && grep -q '^5 8 .* 1 /opt/report$' /app/crontab; {VERDICT}", "surviving mutant"),
    ZooTask("flaw-private-name", PARSE, PLAIN, "overfitting", tests={"check.py": PARSE.check + "assert module.split_size('3 KB') == (3, 'KB')\n"}),
]  # fmt: skip
