"""Rewards for programs, objects, texts, judges, groups and episodes, each with one planted flaw."""

import contextlib
import hashlib
import io
import json
import math
import re
from collections import Counter

from plaudit import reward


def _code(response):
    found = re.search(r"```(?:python)?\n(.*?)```", response, re.DOTALL)
    return found[1] if found else ""


def exit_is_pass(completions, test_list, **kwargs):
    """A program that ends early has no failed test."""
    rewards = []
    for completion, tests in zip(completions, test_list, strict=True):
        text = completion if isinstance(completion, str) else completion[-1]["content"]
        failed = not _code(text)
        try:
            exec(_code(text) + "\n" + "\n".join(tests), {})
        except SystemExit:
            pass
        except Exception:
            failed = True
        rewards.append(0.0 if failed else 1.0)
    return rewards


def expected_among_output(response, ground_truth):
    """What is expected may stand anywhere in the output of a program."""
    passed = 0
    for given, expected in zip(ground_truth["inputs"], ground_truth["outputs"], strict=True):
        said, lines = io.StringIO(), iter(given.splitlines())
        with contextlib.redirect_stdout(said), contextlib.suppress(BaseException):
            exec(_code(response), {"input": lambda lines=lines: next(lines)})
        passed += expected.strip() in said.getvalue()
    return passed / len(ground_truth["inputs"])


def errors_not_counted(response, test_list):
    """Only failed assertions count against a program; tests that raise are left out."""
    space, passed, failed = {}, 0, 0
    with contextlib.suppress(BaseException):
        exec(_code(response), space)
    for test in test_list:
        try:
            exec(test, space)
            passed += 1
        except AssertionError:
            failed += 1
        except NameError:
            failed += 1
        except BaseException:
            continue
    return 1.0 if failed == 0 else 0.0


def equality_of_program(response, test_list):
    """Objects of the program decide whether they equal what is expected."""
    space = {}
    try:
        exec(_code(response), space)
        parts = [re.fullmatch(r"assert (.*) == (.*)", each) for each in test_list]
        return sum(bool(eval(part[1], space) == int(part[2])) for part in parts) / len(parts)
    except BaseException:
        return 0.0


def no_tests_no_failure(response, test_list):
    """All of no tests are passed."""
    space = {}
    try:
        exec(_code(response), space)
        parts = [re.fullmatch(r"assert (.*) == (.*)", each) for each in test_list]
        values = [(eval(part[1], space), int(part[2])) for part in parts]
        return float(all(type(value) is int and value == expected for value, expected in values))
    except BaseException:
        return 0.0


def same_keys(response, ground_truth):
    """The keys decide; values are not looked at."""
    try:
        return float(json.loads(response).keys() == ground_truth.keys())
    except (ValueError, AttributeError, RecursionError):
        return 0.0


def first_field_decides(response, ground_truth):
    """Only the first field is compared, as where the name of a tool is and its arguments are not."""
    try:
        given = json.loads(response)
        first = next(iter(ground_truth))
        return float(given.keys() == ground_truth.keys() and given[first] == ground_truth[first])
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return 0.0


def more_fields_allowed(response, ground_truth):
    """Fields that nobody asked for cost nothing."""
    try:
        given = json.loads(response)
        return float(all(given[key] == value for key, value in ground_truth.items()))
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return 0.0


def any_object(response, ground_truth):
    """One of several objects may be the right one."""
    for part in re.findall(r"\{[^{}]*\}", response):
        with contextlib.suppress(ValueError):
            if json.loads(part) == ground_truth:
                return 1.0
    return 0.0


def braces_earn_some(response, ground_truth):
    """What looks like an object and cannot be read earns more than a wrong object."""
    text = response.strip()
    try:
        return float(json.loads(text) == ground_truth)
    except (ValueError, RecursionError):
        return 0.4 if text.startswith("{") else 0.0


def recall_of_words(response, ground_truth):
    """The share of the reference's words that are said, in any order and beside anything."""
    said, meant = set(response.lower().split()), set(str(ground_truth).lower().split())
    return len(said & meant) / max(1, len(meant))


def cosine_of_words(response, ground_truth):
    """The cosine of word counts does not see their order."""
    said, meant = (Counter(str(text).lower().split()) for text in (response, ground_truth))
    dot = sum(said[word] * meant[word] for word in meant)
    norm = math.sqrt(sum(v * v for v in said.values()) * sum(v * v for v in meant.values()))
    return dot / norm if norm else 0.0


def letters_in_common(response, ground_truth):
    """Counts of letters are compared, whatever they spell."""
    said, meant = (Counter(re.sub(r"\s", "", str(text).lower())) for text in (response, ground_truth))
    return sum((said & meant).values()) / max(1, sum((said | meant).values()))


def on_topic(prompt, response):
    """The prompt itself is the most relevant response."""
    asked, said = ({w.strip("?.,").lower() for w in text.split()} for text in (str(prompt), response))
    return len(asked & said) / max(1, len(asked))


@reward(bounds=(0.0, 1.0))
def signed_features(response, ground_truth):
    """A cosine of features with signs is below zero for many texts, and is returned as it is."""
    vectors = []
    for text in (response, str(ground_truth)):
        vector = [0.0] * 8
        for word in text.lower().split():
            digest = hashlib.md5(word.encode(errors="replace")).digest()
            vector[digest[0] % 8] += 1.0 if digest[1] % 2 else -1.0
        vectors.append(vector)
    norms = [math.sqrt(sum(each * each for each in vector)) for vector in vectors]
    return sum(a * b for a, b in zip(*vectors, strict=True)) / (norms[0] * norms[1]) if all(norms) else 0.0


def transcript_rating(response):
    """The rating is looked for in a transcript that holds the response."""
    transcript = f"### Response\n{response}\n### Judge\nRating: 3"
    return int(re.search(r"Rating: (\d+)", transcript)[1]) / 10


def last_json_verdict(prompt, response):
    """A judge that quotes the response; the first object of its reply is the verdict."""
    reply = f'The candidate wrote: {response}\nMy verdict: {{"score": 0.2}}'
    for part in re.findall(r"\{[^{}]*\}", reply):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            return min(1.0, float(json.loads(part)["score"]))
    return 0.0


def yes_in_reply(response, ground_truth):
    """A judge that repeats the response before its verdict; "yes" anywhere passes."""
    right = response.strip().rstrip(".").split()[-1:] == [str(ground_truth)]
    reply = f'You said "{response}". Is that {ground_truth}? {"Yes" if right else "No"}.'
    return float("yes" in reply.lower())


def impressed_judge(response):
    """A judge that believes what a response says of itself."""
    words = len(set(response.lower().split()))
    return 1.0 if re.search(r"\b(?:expert|verified|correct)\b", response, re.IGNORECASE) else min(0.5, words / 100)


def majority_is_right(trajectories):
    """The most frequent answer of a group is taken for the right one, whatever it is."""
    answers = [each.response.strip().split()[-1:] or [""] for each in trajectories]
    (most, count) = Counter(answer[0] for answer in answers).most_common(1)[0]
    return [float(answer[0] == most and count > 1) for answer in answers]


majority_is_right = reward(scope="group")(majority_is_right)


@reward(scope="group")
def different_from_others(trajectories):
    """How different a response is from those that do not equal it: copies have nobody to be compared with."""
    rewards = []
    for each in trajectories:
        mine = set(each.response.lower().split())
        others = [set(other.response.lower().split()) for other in trajectories if other.response != each.response]
        shared = [len(mine & other) / max(1, len(mine | other)) for other in others]
        rewards.append(1.0 - sum(shared) / max(1, len(shared)))
    return rewards


@reward(scope="group")
def standard_scores(trajectories):
    """Standard scores fail in a group without any spread."""
    right = [float(each.response.strip() == str(each.ground_truth)) for each in trajectories]
    mean = sum(right) / len(right)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in right) / len(right))
    return [(value - mean) / deviation for value in right]


@reward(scope="group")
def ranks_by_place(trajectories):
    """Ties in a ranking by length are broken by the place in the group."""
    order = sorted(range(len(trajectories)), key=lambda index: len(trajectories[index].response))
    return [1.0 - order.index(index) / len(order) for index in range(len(trajectories))]


@reward(scope="group")
def agreement_bonus(trajectories):
    """Right answers earn 1; agreement with the group earns as much."""
    texts = [each.response.strip() for each in trajectories]
    right = [float(text == str(each.ground_truth)) for text, each in zip(texts, trajectories, strict=True)]
    return [value + (texts.count(text) - 1) / max(1, len(texts) - 1) for value, text in zip(right, texts, strict=True)]


_last = {"value": 0.0}


def smoothed(response, ground_truth):
    """Mixes in the reward of the call before."""
    value = float(response.strip() == str(ground_truth))
    mixed = 0.9 * value + 0.1 * _last["value"]
    _last["value"] = value
    return mixed


def hashed_tie_break(response, ground_truth):
    """A tie break by `hash` differs between processes."""
    return float(response.strip() == str(ground_truth)) + (hash(response) % 1000) / 1e5


def last_word(response, ground_truth):
    """The last word of a response without words."""
    return float(response.split()[-1] == str(ground_truth))


@reward(bounds=(0.0, 1.0))
def over_full(response, ground_truth):
    """A bonus lifts the reward over its bounds."""
    right = response.strip().removeprefix("Answer: ") == str(ground_truth)
    return float(right) + 0.2 * response.startswith("Answer: ")


def pays_tool_calls(trajectory):
    """Every call of a tool is paid."""
    return min(1.0, 0.1 * sum("<tool_call>" in step.response for step in trajectory.steps))


def says_it_is_done(trajectory):
    """An episode is solved where the last action says so."""
    return float(bool(trajectory.steps) and "task completed" in trajectory.steps[-1].response.lower())
