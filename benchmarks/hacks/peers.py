"""What falsepass, reward-doctor and rewardprobe say of the rewards of hacks and controls, before training.

    pip install falsepass reward-doctor rewardprobe
    python -m benchmarks.hacks.peers

They take functions of a response and its truth: environments and rewards of groups are left out.
"""

import sys
from collections.abc import Sequence

import benchmarks.audit as audit
from plaudit.hacks import Hack, list_hacks

PEERS = ("falsepass", "reward-doctor", "rewardprobe")


def main(tools: Sequence[str] = PEERS) -> None:
    hacks = [each for each in list_hacks() if not each.is_world and each.name != "group_vote"]
    for tool in tools:
        answers = {each.name: ask(tool, each) for each in hacks}
        found = [each.name for each in hacks if not each.is_sound and answers[each.name] == "alarm"]
        alarms = [each.name for each in hacks if each.is_sound and answers[each.name] == "alarm"]
        unable = [name for name, answer in answers.items() if answer not in ("alarm", "-")]
        planted = sum(not each.is_sound for each in hacks)
        print(f"{tool}: alarm on {len(found)} of {planted} hacks, on {len(alarms)} of {len(hacks) - planted} controls, "
              f"unable {len(unable)}")  # fmt: skip
        print(f"  missed: {', '.join(n.name for n in hacks if not n.is_sound and n.name not in found) or 'none'}")
        print(f"  alarms: {', '.join(alarms) or 'none'}", flush=True)


def ask(tool: str, hack: Hack) -> str:
    """The answer of a tool that is given the prompts and truths of the hack."""
    rows = [{**row, "answer": str(row["ground_truth"])} for row in hack.exercise.rows]
    return audit.ask(tool, hack.name, hack.reward, rows)


if __name__ == "__main__":
    main(sys.argv[1:] or PEERS)
