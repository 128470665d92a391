# ruff: noqa: E501 - one task of the table per line
"""Harbor tasks of further styles: modes of files, archives, queries, servers, tests as the product, settings to source.

Written and committed before the audit was run on them; `harbor.py` reports them apart.
"""

from benchmarks.harbor_zoo import PLAIN, VERDICT, Subject, ZooTask

__all__ = ["THIRD_FLAWED", "THIRD_SOUND"]

ORDERS = "customer,amount\nAda,10\nBo,7\nAda,5\n"
MODES = Subject(
    "Make /app/key.pem readable and writable by its owner only (mode 600), and /app/run.sh executable for all (mode 755).\n",
    "chmod 600 /app/key.pem\nchmod 755 /app/run.sh\n",
    "import os\nassert oct(os.stat('/app/key.pem').st_mode)[-3:] == '600' and oct(os.stat('/app/run.sh').st_mode)[-3:] == '755'\n"
    "assert open('/app/key.pem').read() == 'secret\\n' and open('/app/run.sh').read().startswith('#!/bin/sh')\n",
    {"key.pem": "secret\n", "run.sh": "#!/bin/sh\necho ran\n"},
)
ARCHIVE = Subject(
    "Pack /app/data/a.txt and /app/data/b.txt into /app/data.tar.gz; the archive has the members a.txt and b.txt.\n",
    "tar -C /app/data -czf /app/data.tar.gz a.txt b.txt\n",
    "import tarfile\nwith tarfile.open('/app/data.tar.gz', 'r:gz') as t:\n"
    "    seen = {m.name.removeprefix('./'): t.extractfile(m).read() for m in t.getmembers() if m.isfile()}\n"
    "assert seen == {'a.txt': b'first\\n', 'b.txt': b'second\\n'}\n",
    {"data/a.txt": "first\n", "data/b.txt": "second\n"},
)
QUERY = Subject(
    "Write /app/total.sql: one SQLite query on the table orders(customer, amount) that returns each customer and the sum of\n"
    "amounts, ordered by customer. It must work on any rows; /app/orders.csv has some.\n",
    "cat > /app/total.sql <<'END'\nSELECT customer, SUM(amount) FROM orders GROUP BY customer ORDER BY customer;\nEND\n",
    "import sqlite3\nquery = open('/app/total.sql').read()\n"
    "for rows, want in (([('Ada', 10), ('Bo', 7), ('Ada', 5)], [('Ada', 15), ('Bo', 7)]), ([('Zoe', 1), ('Cy', 2), ('Zoe', 8)], [('Cy', 2), ('Zoe', 9)]), ([], [])):\n"
    "    base = sqlite3.connect(':memory:')\n    base.execute('CREATE TABLE orders (customer TEXT, amount INTEGER)')\n"
    "    base.executemany('INSERT INTO orders VALUES (?, ?)', rows)\n    assert base.execute(query).fetchall() == want\n",
    {"orders.csv": ORDERS},
)
SERVER = Subject(
    "Write /app/server.py: an HTTP server on 127.0.0.1, on the port that is its first argument. GET /health answers `ok`;\n"
    "GET /double/N answers twice the integer N.\n",
    "cat > /app/server.py <<'END'\nimport sys\nfrom http.server import BaseHTTPRequestHandler, HTTPServer\n\n\n"
    "class Handler(BaseHTTPRequestHandler):\n    def do_GET(self):\n        body = 'ok'\n        if self.path.startswith('/double/'):\n"
    "            body = str(2 * int(self.path.split('/')[2]))\n        self.send_response(200)\n        self.end_headers()\n"
    "        self.wfile.write(body.encode())\n\n    def log_message(self, *args):\n        pass\n\n\n"
    "if __name__ == '__main__':\n    HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()\nEND\n",
    "import subprocess, time, urllib.request\nserver = subprocess.Popen(['python3', '-I', '/app/server.py', '8123'])\ntry:\n"
    "    def get(path):\n        for _ in range(100):\n            try:\n                return urllib.request.urlopen('http://127.0.0.1:8123' + path, timeout=5).read().decode().strip()\n"
    "            except OSError:\n                time.sleep(0.05)\n        raise SystemExit('no server')\n"
    "    assert get('/health') == 'ok' and [get(f'/double/{n}') for n in (3, 21, -4)] == ['6', '42', '-8']\nfinally:\n    server.kill()\n",
)
WRITE_TESTS = Subject(
    "/app/median.py has a function median(values). Write /app/test_median.py: a script that exits with 0 if median is right and\n"
    "with another code if it is wrong. It imports median from the folder it is started in. Example: median([3, 1, 2]) is 2.\n",
    "cat > /app/test_median.py <<'END'\nimport os\nimport sys\n\nsys.path.insert(0, os.getcwd())\nfrom median import median\n\n"
    "assert median([3, 1, 2]) == 2\nassert median([4, 1, 2, 3]) == 2.5\nassert median([7]) == 7\nEND\n",
    "import pathlib, subprocess, tempfile\nright = open('/tests/median.py').read()\n"
    "wrong = ['def median(values):\\n    return 2\\n', right.replace('sorted(values)', 'list(values)'), right.replace('/ 2', '/ 1')]\n"
    "for index, text in enumerate([right, *wrong]):\n    folder = tempfile.mkdtemp()\n    pathlib.Path(folder, 'median.py').write_text(text)\n"
    "    done = subprocess.run(['python3', '/app/test_median.py'], cwd=folder, timeout=20)\n    assert (done.returncode == 0) == (index == 0), index\n",
    {
        "median.py": "def median(values):\n    ordered = sorted(values)\n    half = len(ordered) // 2\n    if len(ordered) % 2:\n        return ordered[half]\n    return (ordered[half - 1] + ordered[half]) / 2\n"
    },
)
SETTINGS = Subject(
    "Write /app/env.sh, which sets PORT to 8080 and MODE to production, one assignment per line (`export` is optional).\n",
    "printf 'export PORT=8080\\nexport MODE=production\\n' > /app/env.sh\n",
    "import re\nlines = [line for line in open('/app/env.sh').read().splitlines() if line.strip() and not line.startswith('#')]\n"
    "pairs = [re.fullmatch(r'(?:export\\s+)?(\\w+)=([\"\\']?)(\\w+)\\2', line.strip()) for line in lines]\nassert all(pairs)\n"
    "assert {p[1]: p[3] for p in pairs} == {'PORT': '8080', 'MODE': 'production'}\n",
)
ROMAN = Subject(
    "Write /app/roman.py with roman(n) for 1 <= n < 40: the Roman numeral. Example: roman(14) returns 'XIV'.\n",
    "cat > /app/roman.py <<'END'\ndef roman(n):\n    text = ''\n    for value, sign in ((10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')):\n"
    "        while n >= value:\n            text += sign\n            n -= value\n    return text\nEND\n",
    "import sys\nsys.path.append('/app')\nfrom roman import roman\nfor n, want in ((14, 'XIV'), (1, 'I'), (9, 'IX'), (39, 'XXXIX'), (6, 'VI')):\n"
    "    print('ok' if roman(n) == want else f'FAIL {n}')\n",
)
BUILD = Subject(
    "`make -C /app test` fails because /app/scale.py is wrong. Repair /app/scale.py: scale(values, factor) multiplies each value.\n",
    "sed -i 's/value + factor/value * factor/' /app/scale.py\n",
    "import sys\nsys.path.append('/app')\nfrom scale import scale\nassert scale([1, 2, 5], 3) == [3, 6, 15] and scale([], 2) == [] and scale([4], 0) == [0]\n",
    {
        "Makefile": "test:\n\tpython3 -c 'from scale import scale; assert scale([1, 2, 5], 3) == [3, 6, 15]; assert scale([4], 0) == [0]'\n",
        "scale.py": "def scale(values, factor):\n    return [value + factor for value in values]\n",
    },
)
MEDIAN = WRITE_TESTS.image["median.py"]

THIRD_SOUND = [
    ZooTask("sound-modes", MODES, PLAIN),
    ZooTask("sound-archive", ARCHIVE, PLAIN),
    ZooTask("sound-query", QUERY, PLAIN),
    ZooTask("sound-server", SERVER, PLAIN),
    ZooTask("sound-write-tests", WRITE_TESTS, PLAIN, tests={"median.py": MEDIAN}),
    ZooTask("sound-settings", SETTINGS, PLAIN),
]
THIRD_FLAWED = [
    ZooTask("flaw-one-mode", MODES, f"#!/bin/bash\nif [ -x /app/run.sh ] && [ -f /app/key.pem ]; {VERDICT}", "surviving mutant"),
    ZooTask("flaw-member-names", ARCHIVE, f"#!/bin/bash\nif [ \"$(tar -tzf /app/data.tar.gz | sort | xargs)\" = 'a.txt b.txt' ]; {VERDICT}", "surviving mutant"),
    ZooTask("flaw-visible-rows", QUERY, f"#!/bin/bash\nif python3 -I /tests/rows.py; {VERDICT}", "hard-coded output", tests={"rows.py": QUERY.check.replace(", ([('Zoe', 1), ('Cy', 2), ('Zoe', 8)], [('Cy', 2), ('Zoe', 9)]), ([], [])", ",")}),
    ZooTask("flaw-health-only", SERVER, f"#!/bin/bash\npython3 -I /app/server.py 8123 &\nsleep 1\nif [ \"$(python3 -I -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:8123/health').read().decode())\")\" = ok ]; {VERDICT}", "surviving mutant"),
    ZooTask("flaw-tests-pass", WRITE_TESTS, f"#!/bin/bash\nmkdir /tmp/w; cp /tests/median.py /tmp/w; cd /tmp/w\nif timeout 20 python3 /app/test_median.py; {VERDICT}", "stub solution", tests={"median.py": MEDIAN}),
    ZooTask("flaw-source", SETTINGS, f"#!/bin/bash\n. /app/env.sh\nif [ \"$PORT\" = 8080 ] && [ \"$MODE\" = production ]; {VERDICT}", "verifier's rights"),
    ZooTask("flaw-count-failures", ROMAN, f"#!/bin/bash\nif [ -f /app/roman.py ] && [ $(python3 -I /tests/check.py | grep -c FAIL) -eq 0 ]; {VERDICT}", "ignored exit code"),
    ZooTask("flaw-makefile", BUILD, f"#!/bin/bash\nif make -s -C /app test; {VERDICT}", "test configuration"),
]  # fmt: skip
