"""Requests are answered in the protocols that trainers speak, and one bad sample stops nobody else."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from plaudit.contract.output import RewardOutput, Status
from plaudit.serving import ServerSettings, ServerThread
from plaudit.serving.protocols import PROTOCOLS
from plaudit.serving.protocols.protocol import About
from plaudit.version import __version__
from tests.serving.asking import ask, samples


def test_samples_are_scored_in_order_with_statuses_and_reasons(server):
    answer = ask(server.address, "/score", samples("yes", "no", "raise", "none"))
    outputs = answer.json["outputs"]
    assert answer.status == 200
    assert [each["reward"] for each in outputs] == [1.0, 0.0, None, None]
    assert [each["status"] for each in outputs] == ["ok", "ok", "error", "skipped"]
    assert "ValueError: no such thing" in outputs[2]["reason"]


def test_every_answer_names_the_version_the_reward_its_key_and_the_request(server):
    answer = ask(server.address, "/mark/score", samples("yes"), x_request_id="abc-1")
    assert answer.headers["x-plaudit-version"] == answer.json["version"] == __version__
    assert answer.headers["x-plaudit-reward"] == answer.json["reward"] == "mark"
    assert answer.headers["x-plaudit-key"] == answer.json["key"]
    assert answer.headers["x-request-id"] == "abc-1"
    for path, more, status in (("/nothing", {}, 404), ("/score", {"content_type": "text/plain"}, 415)):
        refused = ask(server.address, path, samples("yes"), x_request_id="abc-2", **more)
        assert (refused.status, refused.headers["x-request-id"]) == (status, "abc-2")
        assert refused.headers["x-plaudit-version"] == __version__
    assert refused.headers["x-plaudit-key"] == answer.json["key"]


def test_a_sample_whose_columns_have_no_names_does_not_stop_others(server):
    good = {"prompt": "?", "response": "yes", "ground_truth": "yes"}
    body = msgspec.msgpack.encode({"trajectories": [{**good, 3: "?"}, good]})
    answer = ask(server.address, "/score", body, content_type="application/msgpack")
    outputs = msgspec.msgpack.decode(answer.body)["outputs"]
    assert [each["status"] for each in outputs] == ["error", "ok"]
    assert outputs[0]["reason"] == "sample 0: the names of columns must be text"


def test_msgpack_is_answered_in_msgpack(server):
    body = msgspec.msgpack.encode(samples("yes", "no"))
    answer = ask(server.address, "/score", body, content_type="application/msgpack")
    assert answer.headers["content-type"] == "application/msgpack"
    assert [each["reward"] for each in msgspec.msgpack.decode(answer.body)["outputs"]] == [1.0, 0.0]


def test_a_sample_that_is_none_is_reported_beside_the_others(server):
    asked = {"trajectories": [{"prompt": "?"}, 3, {"prompt": "?", "response": "yes", "answer": "yes"}]}
    outputs = ask(server.address, "/score", asked).json["outputs"]
    assert [each["reward"] for each in outputs] == [None, None, 1.0]
    assert "no 'response'" in outputs[0]["reason"]
    assert "sample 1: expected an object" in outputs[1]["reason"]


@pytest.mark.parametrize(
    "sample",
    [
        {"messages": [1, 2]},
        {"messages": None},
        {"messages": [{"role": "user", "content": "a"}]},
    ],
)
def test_a_conversation_that_is_none_costs_only_itself(server, sample):
    fine = {"prompt": "?", "response": "yes", "ground_truth": "yes"}
    outputs = ask(server.address, "/score", {"exact": True, "trajectories": [fine, sample]}).json["outputs"]
    assert [output["status"] for output in outputs] == ["ok", "error"]


def test_half_a_character_is_scored_in_every_protocol(server):
    assert ask(server.address, "/get_reward", b'{"query": ["\\ud800"], "labels": ["\\ud800"]}').json["rewards"] == [1.0]
    assert ask(server.address, "/remote_rm", b'{"response": "\\ud800", "label": "\\ud800"}').json == 1.0


def test_a_sample_that_hangs_or_crashes_costs_only_itself(server):
    outputs = ask(server.address, "/score", samples("yes", "hang", "yes", "crash", "yes")).json["outputs"]
    assert [each["status"] for each in outputs] == ["ok", "timeout", "ok", "error", "ok"]
    assert outputs[1]["reason"] == "no result within the deadline of 1.5 s; the worker was killed"
    assert outputs[3]["reason"] == "the worker died: exit code 3"


def test_a_function_for_batches_gets_one_request_in_one_call(server):
    outputs = ask(server.address, "/batched/score", samples("a", "b", "c")).json["outputs"]
    assert [each["reward"] for each in outputs] == [3.0, 3.0, 3.0]
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: ask(server.address, "/batched/score", samples("a")).json, range(32)))
    assert {answer["outputs"][0]["reward"] for answer in answers} == {1.0}  # requests are never merged


@pytest.mark.parametrize(("responses", "status"), [(("a", "hang"), "timeout"), (("forget", "b"), "error")])
def test_a_batch_call_that_fails_fails_all_its_samples_and_no_others(server, responses, status):
    outputs = ask(server.address, "/batched/score", samples(*responses)).json["outputs"]
    assert [each["status"] for each in outputs] == [status] * 2
    assert ask(server.address, "/batched/score", samples("a")).json["outputs"][0]["status"] == "ok"


def test_the_description_says_what_is_scored_together(server):
    described = {each["name"]: each for each in ask(server.address, "/").json["rewards"]}
    scopes = {name: (each["scope"], each["max_batch"]) for name, each in described.items()}
    assert scopes == {"mark": ("sample", None), "batched": ("batch", None), "best_of_group": ("group", None)}


def test_a_group_reward_sees_the_groups_of_one_request(server):
    rows = [{"prompt": str(n % 2), "response": "x" * n} for n in range(4)]
    outputs = ask(server.address, "/best_of_group/score", {"trajectories": rows}).json["outputs"]
    assert [each["reward"] for each in outputs] == [0.0, 0.0, 1.0, 1.0]


def test_openrlhf_is_answered_with_rewards_scores_and_logs(server):
    asked = {"query": ["2+2?yes<|im_end|>\n", "2+2?no"], "prompts": ["2+2?"] * 2, "labels": ["yes", "yes"]}
    answer = ask(server.address, "/get_reward", asked)
    assert answer.json == {"rewards": [1.0, 0.0], "scores": [1.0, 0.0], "extra_logs": {}}


@pytest.mark.parametrize(
    ("query", "response"),
    [
        ("2+2?4", "4"),
        ("2+2?4 \n", "4 \n"),
        ("2+2? 4 <|im_end|>\n", " 4"),
        ("2+2?4</s> \u2003<pad><pad>", "4"),
        ("2+2?<eos>", ""),
        ("2+2?a</s>b>", "a</s>b>"),
        ("4[EOS]", "4"),
        pytest.param("2+2?4" + " " * 300_000 + "x>", "4" + " " * 300_000 + "x>", id="much space"),
        pytest.param("2+2?4" + "</s>" * 100_000, "4", id="many tokens"),
    ],
)
def test_the_response_of_a_query_stands_between_its_prompt_and_the_tokens_that_end_it(query, response):
    body = msgspec.json.encode({"query": [query], "prompts": ["2+2?"]})
    [sample] = PROTOCOLS["get_reward"].read(body, packed=False).trajectories
    assert sample.response == response


@pytest.mark.parametrize(
    ("query", "prompt", "response"),
    [
        ("2+2?4", "2+2?", "4"),
        ("<|begin_of_text|>2+2?4<|eot_id|>", "2+2?", "4"),
        ("<s>2+2?4</s>", "2+2?", "4"),
        ("<s>4</s>", "", "<s>4"),
        ("another text: 4", "2+2?", "another text: 4"),
    ],
)
def test_the_response_of_openrlhf_is_what_stands_behind_the_prompt(query, prompt, response):
    asked = msgspec.json.encode({"query": [query], "prompts": [prompt]})
    [sample] = PROTOCOLS["get_reward"].read(asked, packed=False).trajectories
    assert (sample.prompt, sample.response) == (prompt, response)


def test_openrlhf_gets_the_numbers_of_metadata_and_components_as_extra_logs():
    protocol = PROTOCOLS["get_reward"]
    read = protocol.read(b'{"query": ["a", "b"]}', packed=False)
    outputs = [
        RewardOutput(
            n, metadata={"length": n, "text": "a", "huge": 2**2000, "rare": 1}, components={"c": RewardOutput(n)}
        )
        for n in (1.0, 2.0)
    ]
    del outputs[1].metadata["rare"]  # only what every sample has can be logged
    answer = json.loads(protocol.write(read, outputs, About("a", "k", "1"), packed=False))
    assert answer["extra_logs"] == {"length": [1.0, 2.0], "c": [1.0, 2.0]}


@pytest.mark.parametrize(("on_unscored", "value"), [("mean", 2.0), ("none", None)])
def test_an_unscored_sample_does_not_take_the_extra_logs_of_the_others_away(on_unscored, value):
    protocol = PROTOCOLS["get_reward"]
    read = protocol.read(b'{"query": ["a", "b", "c"]}', packed=False)
    outputs = [RewardOutput(1.0, metadata={"m": 1.0}), UNSCORED, RewardOutput(2.0, metadata={"m": 3.0})]
    answer = json.loads(protocol.write(read, outputs, About("a", "k", "1", on_unscored), packed=False))
    assert answer["extra_logs"] == {"m": [1.0, value, 3.0]}


UNSCORED = RewardOutput.unscored(Status.ERROR, "no such thing")
ASKED = {
    "get_reward": {"query": ["a"]},
    "remote_rm": {"response": "a"},
    "verify": {"responses_create_params": {}, "response": {"output": []}, "id": 10**30, "half": None},
}


@pytest.mark.parametrize("protocol", ASKED)
@pytest.mark.parametrize(("policy", "number"), [("nan", "NaN"), ("mean", "NaN"), ("none", "null")])
def test_an_unscored_sample_is_answered_by_the_servers_policy(protocol, policy, number):
    samples_read = PROTOCOLS[protocol].read(json.dumps(ASKED[protocol]).encode(), packed=False)
    body = PROTOCOLS[protocol].write(samples_read, [UNSCORED], About("a", "k", "1", policy), packed=False)
    answer = json.loads(body, parse_constant=lambda word: word)
    reward = {
        "get_reward": lambda: answer["rewards"][0],
        "remote_rm": lambda: answer,
        "verify": lambda: answer["reward"],
    }
    assert reward[protocol]() == (None if number == "null" else number)


def test_a_protocol_without_a_word_for_unscored_refuses_and_names_the_sample(server):
    answer = ask(server.address, "/get_reward", {"query": ["yes", "raise"]})
    assert answer.status == 422
    assert "1 of 2 samples were not scored; sample 1: error: mark raised ValueError" in answer.json["error"]
    assert "--on-unscored" in answer.json["error"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("/score", b"{", 400, "not JSON"),
        ("/score", {"samples": []}, 422, "expected"),
        ("/score", [], 422, "expected"),
        ("/score", b'{"trajectories": ' + b"[" * 5000 + b"]" * 5000 + b"}", 422, "nested too deeply"),
        ("/get_reward", {"query": [1]}, 422, "query"),
        ("/get_reward", {"query": ["a"], "labels": []}, 422, "0 labels for 1 queries"),
        ("/get_reward", b"\xff", 400, "JSON"),
        ("/score", {"trajectories": [{}] * 5000}, 413, "at most 4096"),
        ("/nothing", {}, 404, "/mark/score"),
    ],
)
def test_a_request_that_is_invalid_is_refused_with_the_reason(server, path, body, status, words):
    answer = ask(server.address, path, body)
    assert answer.status == status
    assert words in answer.json["error"]


def test_prometheus_reads_the_metrics(server):
    ask(server.address, "/score", samples("yes"))
    families = {
        each.name: each for each in text_string_to_metric_families(ask(server.address, "/metrics").body.decode())
    }
    counted = {tuple(each.labels.values()): each.value for each in families["plaudit_samples"].samples}
    assert counted["mark", "ok"] >= 1
    assert families["plaudit_request_seconds"].type == "histogram"
    assert families["plaudit_workers"].samples


def test_the_document_describes_every_path(server):
    document = ask(server.address, "/openapi.json").json
    refused = ask(server.address, "/nothing").json["error"]
    assert all(f"{path}," in f"{refused}," for path in document["paths"])
    schemas = document["components"]["schemas"]
    assert set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document))) == {*schemas}
    assert schemas["ScoreRequest"]["required"] == ["trajectories"]
    assert document["paths"]["/mark/score"]["post"]["requestBody"]["content"].keys() == {
        "application/json", "application/msgpack",
    }  # fmt: skip


def test_slime_and_nemo_gym_are_answered_in_their_words(server):
    assert ask(server.address, "/remote_rm", {"prompt": "?", "response": "yes", "label": "yes"}).json == 1.0
    said = {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "yes"}]}]}
    asked = {"responses_create_params": {"input": [{"role": "user", "content": "?"}]}, "response": said}
    answer = ask(server.address, "/verify", {**asked, "expected_answer": "yes", "question": "?"}).json
    assert answer == {**asked, "expected_answer": "yes", "question": "?", "reward": 1.0}


def test_run_code_without_sandbox_names_the_option(server):
    answer = ask(server.address, "/run_code", {"code": "", "language": "python"})
    assert answer.status == 404
    assert "programs are run by a server with --sandbox" in answer.json["error"]


def test_exact_samples_are_read_under_our_names_alone(server):
    sample = {"prompt": "?", "response": "yes", "answer": "yes"}
    told = [
        ask(server.address, "/score", {"exact": exact, "trajectories": [sample]}).json["outputs"][0]["reward"]
        for exact in (False, True)
    ]
    assert told[0] == 1.0
    assert told[1] != 1.0


def test_a_warning_of_loading_is_printed_once_for_all_workers(tmp_path, capfd):
    file = tmp_path / "reward.py"
    file.write_text(
        "import time\nleft_out = undefined_name\ndef slow(response):\n    time.sleep(0.2)\n    return 1.0\n"
    )
    settings = ServerSettings(rewards=(f"{file}:slow",), port=0, workers=2, deadline_s=10.0)
    with ServerThread(settings) as server, ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda text: ask(server.address, "/score", samples(text)), "abcd"))
    assert [answer.status for answer in answers] == [200] * 4
    assert capfd.readouterr().err.count("line 2 could not run here") == 1
