"""The server of `plaudit view`: who may ask, what it answers, and how it follows a file that grows."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

from plaudit.errors import RolloutsError
from plaudit.report.run_files import find_runs
from plaudit.report.statistics.figures import collect_figures
from plaudit.report.view.sample_index import Place, Query, SampleIndex
from plaudit.report.view.view_server import ViewServer
from plaudit.rollouts import RolloutsWriter
from tests.report.page.hostile_run import hostile_rollouts

ROLLOUTS = hostile_rollouts(80)


def write(path, rollouts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(rollout.to_line() for rollout in rollouts))
    return path


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    write(folder / "one" / "rollouts.jsonl", ROLLOUTS)
    write(folder / "two" / "deep" / "rollouts.jsonl", ROLLOUTS[:16])
    with ViewServer([folder]) as server:
        wait_for(lambda: all(run.describe().get("figures") for run in server.runs))
        yield server


def ask(view, path, **parameters):
    query = urllib.parse.urlencode({name: json.dumps(value) for name, value in parameters.items()})
    with urllib.request.urlopen(f"{view.address}{path}?{query}") as answer:
        return json.load(answer)


def test_the_figures_are_those_of_a_report(view):
    assert [run["name"] for run in ask(view, "api/runs")["runs"]] == ["one", "two/deep"]
    figures = ask(view, "api/runs/0")["figures"]
    assert figures == json.loads(json.dumps(collect_figures(ROLLOUTS).to_dict()))


def test_a_query_gives_what_the_page_from_disk_gives(view):
    found = ask(view, "api/runs/0/samples", where=[["status", "!=", "ok"]], limit=3)
    assert found["total"] == 5
    assert [row["sample"] for row in found["rows"]] == [3, 20, 37]
    found = ask(view, "api/runs/0/samples", where=[["level", "=", "2"]], sort=["reward", True])
    rewards = [row["values"]["reward"] for row in found["rows"]]
    known = [reward for reward in rewards if reward is not None]
    assert known == sorted(known, reverse=True)
    assert rewards[len(known) :] == [None] * (len(rewards) - len(known))


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (("kind", "=", "hard"), lambda one: one.trajectory.columns["kind"] == "hard"),
        (("kind", "~", "EASY"), lambda one: one.trajectory.columns["kind"] == "<easy>"),
        (("training_step", ">", "3"), lambda one: one.trajectory.training_step > 3),
        (("score", "=", "1"), lambda one: one.output.score == 1.0),
        (("score", "!=", "1"), lambda one: one.output.score != 1.0),
        (("sample", "<", "7"), lambda one: ROLLOUTS.index(one) < 7),
        (("absent", "!=", "1"), lambda one: True),
        (("absent", "=", "1"), lambda one: False),
        (('"; DROP TABLE samples; --', "=", "1"), lambda one: False),
    ],
)
def test_conditions_hold_for_the_samples_they_name(view, condition, expected):
    query = Query((condition,))
    found = [row["sample"] for row in view.runs[0].samples(query, 0, 100).rows]
    assert found == [number for number, one in enumerate(ROLLOUTS) if expected(one)]
    assert view.runs[0].samples(query, 0, 1).total == len(found)


def test_a_search_reads_texts_and_says_where_to_go_on(view, monkeypatch):
    monkeypatch.setattr("plaudit.report.view.live_run.SEARCH_S", 0.005)
    run, found, start, rows = view.runs[0], 0, 0, []
    while start is not None:
        part = run.samples(Query(search="I THINK it"), 10, 5, start=start, found=found)
        found, start, rows = part.total, part.next, rows + part.rows
    wanted = [number for number, one in enumerate(ROLLOUTS) if "i think it" in one.trajectory.response.lower()]
    assert found == len(wanted)
    assert [row["sample"] for row in rows] == wanted[10:15]


def test_samples_groups_and_choices_come_in_full(view):
    assert ask(view, "api/runs/0/sample", row=0)["response"] == ROLLOUTS[0].trajectory.response
    groups = ask(view, "api/runs/0/groups", sort=["reward", False], limit=4)
    assert groups["total"] == 10
    assert [len(group["cells"]) for group in groups["rows"]] == [8] * 4
    means = [group["mean"] for group in groups["rows"]]
    assert means == sorted(means)
    assert view.runs[0].choices("kind") == ["<easy>", "hard"]
    assert view.runs[0].values(5)["component/\u202econstructor"] == pytest.approx(
        ROLLOUTS[5].output.components["\u202econstructor"].reward, rel=1e-5
    )


def status_of(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_only_the_link_on_this_machine_is_answered(view):
    root = view.address.rsplit("/", 2)[0]
    assert root.startswith("http://127.0.0.1:")
    assert len(view.address.rsplit("/", 2)[1]) >= 32
    assert status_of(view.address) == 200
    for address in (f"{root}/", f"{root}/wrong/", f"{root}/api/runs", f"{root}//api/runs", f"{root}/%00/"):
        assert status_of(address) == 403
    assert status_of(view.address, Host="evil.example") == 403


@pytest.mark.parametrize(
    "path",
    ["api/runs/9", "api/runs/x", "api/nothing", "api/runs/0/sample?row=999", "api/runs/0/samples?where=[[1]]",
     "api/runs/0/samples?sort=5", "api/runs/0/drop", "../../etc/passwd"],
)  # fmt: skip
def test_a_wrong_question_is_refused_and_the_server_goes_on(view, path):
    assert status_of(f"{view.address}{path}") == 400
    assert status_of(f"{view.address}api/runs") == 200


def test_a_file_that_grows_is_followed_and_one_that_was_cut_back_read_anew(tmp_path):
    path = write(tmp_path / "run" / "rollouts.jsonl", ROLLOUTS[:16])
    (tmp_path / "run" / "metrics.jsonl").write_text('{"step": 1, "entropy": 2.0}\n')
    with ViewServer([tmp_path / "run"]) as server:
        (run,) = server.runs
        wait_for(lambda: run.describe().get("figures", {}).get("summary", {}).get("count") == 16)
        line = ROLLOUTS[16].to_line()
        with path.open("ab") as file:
            file.write(line[:20])
            file.flush()
            time.sleep(0.05)
            file.write(line[20:] + b'{"broken"}\n{"prompt": "p", "response": "not scored"}\n' + ROLLOUTS[17].to_line())
        wait_for(lambda: run.describe()["figures"]["summary"]["count"] == 18)
        assert run.state()["left_out"] == 2
        assert run.sample(17)["response"] == ROLLOUTS[17].trajectory.response
        assert run.describe()["metrics"] == {"entropy": [(1, 2.0)]}
        write(path, ROLLOUTS[:4])
        wait_for(lambda: run.describe()["figures"]["summary"]["count"] == 4)
        assert run.samples(Query(), 0, 50).total == 4
        write(path, ROLLOUTS[20:60])  # larger at once
        wait_for(lambda: run.describe()["figures"]["summary"]["count"] == 40)
        assert run.sample(0)["response"] == ROLLOUTS[20].trajectory.response


def test_other_formats_are_shown_too(tmp_path):
    path = tmp_path / "scored.jsonl.gz"
    with RolloutsWriter(path) as writer:
        for rollout in ROLLOUTS[:8]:
            writer.write(rollout)
    with ViewServer([path]) as server:
        wait_for(lambda: server.runs[0].rows == 8)
        assert server.runs[0].sample(3)["response"] == ROLLOUTS[3].trajectory.response


def test_a_folder_without_runs_is_an_error(tmp_path):
    with pytest.raises(RolloutsError, match="there is no run in"):
        find_runs(tmp_path)
    with pytest.raises(RolloutsError, match="there is no run in"):
        ViewServer([tmp_path])


@pytest.mark.parametrize(
    "question",
    [
        {"where": [1]}, {"where": [["reward", ";", "1"]]}, {"offset": 10**40}, {"sort": "x"}, {"limit": "many"},
    ],
    ids=str,
)  # fmt: skip
def test_a_question_that_is_none_is_answered_with_what_is_wrong(view, question):
    with pytest.raises(urllib.error.HTTPError) as answered:
        ask(view, "api/runs/0/samples", **question)
    with answered.value as answer:
        assert answer.code == 400


def test_samples_whose_file_is_gone_are_said_to_be(tmp_path):
    path = write(tmp_path / "rollouts.jsonl", ROLLOUTS[:4])
    with ViewServer([tmp_path]) as server:
        wait_for(lambda: server.runs[0].rows == 4)
        path.unlink()
        with pytest.raises(urllib.error.HTTPError) as answered:
            ask(server, "api/runs/0/sample", row=1)
        with answered.value as answer:
            assert answer.code == 503


@pytest.mark.parametrize(
    ("sign", "wanted", "expected"),
    [
        (">=", "2", [2.0, 10, "abc"]), ("<", "2", [1, "007"]), ("=", "7", []), ("=", "007", ["007"]),
        ("!=", "2", [1, 10, "007", "abc", None]), ("=", "1_0", []), ("<", "b", [1, 2.0, 10, "007", "abc"]),
    ],
)  # fmt: skip
def test_numbers_are_compared_as_numbers_and_texts_as_texts(tmp_path, sign, wanted, expected):
    values = [1, 2.0, 10, "007", "abc", None]
    index = SampleIndex(tmp_path / "index.sqlite")
    for number, value in enumerate(values):
        index.add(Place(number, 0, 0), {"x": value})
    index.commit()
    found = index.places(Query((("x", sign, wanted),)), 0, 10)
    index.close()
    assert [values[place.sample] for place in found] == expected
