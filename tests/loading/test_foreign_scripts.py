"""Training scripts whose rewards do not need what cannot run here: they load with at most one warning."""
# ruff: noqa: E501 - the table has long lines

import warnings

import pytest

from plaudit import Trajectory, load

REWARD = """
import re
ANSWER = re.compile(r"####\\s*(.+)")

def extract(text):
    found = ANSWER.search(text)
    return found[1] if found else ""

def reward(completions, **kwargs):
    return [float(extract(text) == "4") for text in completions]
"""

LOADS = {
    "model at the end": REWARD + "model = open('weights.bin').read()\n",
    "model first": "model = open('weights.bin').read()\n" + REWARD,
    "absent trainer": "from absent_trl import GRPOTrainer, GRPOConfig\n" + REWARD
    + "trainer = GRPOTrainer(model='m', reward_funcs=[reward], args=GRPOConfig(beta=0.1))\ntrainer.train()\n"
    + "trainer.save_model('out')\n",
    "absent module with attributes": "import absent_peft\n" + REWARD + "config = absent_peft.LoraConfig(r=8)\n",
    "login": REWARD + "import absent_wandb\nabsent_wandb.login()\nabsent_wandb.init(project='x')\n",
    "installed package that fails": REWARD + "import torch\ntorch.load('absent.pt')\n",
    "data set": REWARD + "import json\ndataset = [json.loads(line) for line in open('train.jsonl')]\n"
    "dataset = dataset.map(lambda row: row)\n",
    "annotations of an absent package": "import absent_kit\n" + REWARD
    + "def collate(rows: absent_kit.Rows) -> absent_kit.Batch:\n    return rows\n",
    "class of an absent package": "from absent_kit import Trainer\n" + REWARD
    + "class Mine(Trainer):\n    def train(self):\n        return reward([])\n"
    "Mine(reward_funcs=[reward]).train()\n",
    "main guard": REWARD + "if __name__ == '__main__':\n    raise SystemExit(undefined)\n",
    "main guard with absent names": "import absent_kit\n" + REWARD
    + "if __name__ == '__main__':\n    reward = absent_kit.wrap(reward)\n",
    "unguarded main": REWARD + "def main():\n    model = open('weights.bin')\n    trainer = object(model, reward)\n\nmain()\n",
    "unguarded main with arguments": REWARD
    + "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('data')\nargs = parser.parse_args()\n"
    "print(args.data)\n",
    "exit at the end": REWARD + "import sys\ndef main():\n    return 1\nsys.exit(main())\n",
    "decorated main": "import absent_hydra\n" + REWARD + "@absent_hydra.main()\ndef main(config):\n    pass\n",
    "star import": "from absent_unsloth import *\n" + REWARD,
    "logger": "import logging\nlogger = logging.getLogger(__name__)\n" + REWARD.replace(
        "found = ANSWER", "logger.debug(text)\n    found = ANSWER") + "logger.info(undefined)\n",
    "handled import": "try:\n    import absent_kit\nexcept ImportError:\n    absent_kit = None\n" + REWARD,
    "handled error": "try:\n    LIMIT = int('x')\nexcept ValueError:\n    LIMIT = 4\n" + REWARD,
    "handled import that raises anew": REWARD
    + "try:\n    import absent_kit\nexcept ImportError:\n    raise ImportError('pip install absent_kit')\n",
    "environment variable": "import os\ntoken = os.environ['PLAUDIT_ABSENT_TOKEN']\n" + REWARD,
    "client with a key": "import os\nimport absent_openai\n" + REWARD
    + "client = absent_openai.Client(api_key=os.environ['PLAUDIT_ABSENT_KEY'])\n"
    "def judge(completions, **kwargs):\n    return [client.ask(text) for text in completions]\n",
    "other reward needs a model": "import absent_kit\nmodel = absent_kit.load('m')\n" + REWARD
    + "def judged(completions, **kwargs):\n    return [model(text) for text in completions]\n"
    "REWARDS = [reward, judged]\n",
    "settings passed to a trainer": "import absent_kit\nSETTINGS = {'lr': 0.1}\n" + REWARD
    + "trainer = absent_kit.Trainer(reward, **SETTINGS)\n",
    "config read by a failing call": "CONFIG = {'path': 'absent.json', 'limit': 3}\n" + REWARD.replace(
        "found = ANSWER", "limit = CONFIG['limit']\n    found = ANSWER")
    + "data = open(CONFIG['path'])\n",
    "same attribute name": "model = undefined\n" + REWARD
    + "class Holder:\n    def __init__(self):\n        self.model = 1\nHOLDER = Holder()\n",
    "local of the same name": "tokens = undefined\n" + REWARD.replace("found = ANSWER", "tokens = 1\n    found = ANSWER"),
    "rebound later": "LIMIT = undefined\nLIMIT = 4\n" + REWARD.replace("found = ANSWER", "limit = LIMIT\n    found = ANSWER"),
    "plot loop": REWARD + "for step in range(3):\n    losses = history[step]\n    print(losses)\n",
    "seed": REWARD + "import random\nrandom.seed(undefined)\n",
    "environment set": REWARD + "import os\nos.environ['PLAUDIT_DEVICE'] = undefined\n",
    "import inside a function": REWARD.replace("found = ANSWER", "from absent_kit import x\n    found = ANSWER", 0)
    + "def other(text):\n    import absent_kit\n    return absent_kit.grade(text)\n",
    "logging set up": REWARD + "import logging\nlogger = logging.getLogger(__name__)\nlogger.addHandler(undefined)\n",
    "table and trainer": "from absent_trl import GRPOTrainer\nWORDS = ['a', 'b']\n" + REWARD.replace(
        "found = ANSWER", "words = WORDS\n    found = ANSWER")
    + "REWARDS = [reward]\ntrainer = GRPOTrainer(reward_funcs=REWARDS)\nother = GRPOTrainer(reward_funcs=[reward])\n",
    "subclass of an absent class with a table": "from absent_trl import GRPOTrainer\nWORDS = ['a', 'b']\n" + REWARD.replace(
        "found = ANSWER", "words = WORDS\n    found = ANSWER")
    + "class Mine(GRPOTrainer):\n    def train(self):\n        return WORDS\n",
    "arguments of a failing call": "import argparse\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--data', default='absent.json')\nparser.add_argument('--limit', default=3)\nargs = parser.parse_args()\n"
    + REWARD.replace("found = ANSWER", "limit = args.limit\n    found = ANSWER") + "data = open(args.data)\n",
    "vars of the arguments": "import argparse\nimport absent_wandb\nargs = argparse.Namespace(limit=3)\n" + REWARD
    + "absent_wandb.init(config=vars(args))\n",
    "kept error": "try:\n    import absent_kit\nexcept ImportError as error:\n    ERROR = error\nWORDS = []\n" + REWARD.replace(
        "found = ANSWER", "error = ERROR\n    found = ANSWER") + "WORDS.append(undefined)\n",
    "cached function": "import functools\n" + REWARD.replace("def extract", "@functools.lru_cache\ndef extract")
    + "rows = [extract(line) for line in open('absent.txt')]\n",
    "own classes given to an absent trainer": "import dataclasses, enum\nfrom absent_trl import GRPOTrainer\nWORDS = ['a']\n"
    "class Mode(enum.Enum):\n    FAST = 1\n@dataclasses.dataclass\nclass Config:\n    mode: Mode = Mode.FAST\n"
    "class Grader:\n    marks = ['x']\n    def __init__(self, limit):\n        self.limit = limit\n    def grade(self, text):\n"
    "        return WORDS, self.marks, Config(Mode.FAST)\n"
    + REWARD.replace("found = ANSWER", "Grader(3).grade(text)\n    found = ANSWER")
    + "trainer = GRPOTrainer(Grader(2), args=Config(), mode=Mode.FAST)\n",
    "device": "import absent_torch\ndevice = 'cuda' if absent_torch.cuda.is_available() else 'cpu'\n" + REWARD,
}  # fmt: skip


@pytest.mark.parametrize("name", LOADS)
def test_a_reward_that_cannot_reach_what_failed_loads_with_at_most_one_warning(write, name):
    write("script.py", LOADS[name])
    with warnings.catch_warnings(record=True, action="always") as caught:
        loaded = load("script.py:reward")
        load("script.py:reward")
    assert len(caught) <= 1, [str(each.message) for each in caught]
    assert loaded([Trajectory("q", "#### 4", ground_truth="4"), Trajectory("q", "5", ground_truth="4")]) == [1.0, 0.0]
