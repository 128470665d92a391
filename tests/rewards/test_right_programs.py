"""Right programs of unusual style pass; where the tests cannot be split they are not scored, and never scored 0."""

from pathlib import Path

from plaudit import Status, Trajectory
from plaudit.rewards import CodeReward
from plaudit.sandbox import shared_pool
from tests.parts import part
from tests.rewards.forgery_list import with_tests

FILES = sorted((Path(__file__).parent / "right_programs").glob("*.txt"))
LISTED = [program for path in FILES for program in with_tests(path, path.stem)]
PROGRAMS = {program.name: program for program in LISTED}
COMPARED = [  # the tests compare, order or compute with objects of the program's classes
    "vector_addition", "vector_scaled_from_the_left", "ordering_of_versions", "deleting_a_key", "instances_in_sets",
    "dataclass_equals_instance_of_the_test", "frozen_dataclass", "enum_iteration", "equality_with_a_plain_value",
    "operators_of_a_matrix", "in_place_addition", "typed_named_tuple", "polynomials", "iterable_class_sum",
    "matrix_matmul", "inplace_operators", "hashable_in_dict", "sorted_by_lt", "dataclass_frozen_equal",
    "operator_overloads_reverse", "del_and_setitem", "dataclass_of_the_prompt", "ninth_sequence_by_getitem",
    "tenth_typical_linked_list",
]  # fmt: skip
WATCHING = [  # the tests replace or watch parts of the program's process
    "exception_group", "warnings_of_the_program", "unittest_that_expects_a_warning", "patched_random",
    "patched_helper_of_the_program", "environment_of_the_program", "match_on_a_class", "match_values",
]  # fmt: skip
GIVEN_TO_EACH_OTHER = [  # a function of the program that nobody names gets what another one returned
    "tenth_generator_given_back", "tenth_typical_dataclass", "tenth_typical_tree",
    "tenth_typical_json_and_dates", "tenth_array_of_ragged_rows",
]  # fmt: skip
NOT_SCORED = {
    "ninth_generator_throw": "ValueError is not plain data",
    "ninth_operator_as_an_argument": "wrapper_descriptor is not plain data",
    "linked_list": "Node is not plain data",  # the data set's helper makes objects that cannot be sent
    "names_of_the_library_without_import": "which neither they nor",
    **dict.fromkeys(["ip_address", "generic_alias"], "of the standard library, which is not plain data"),
    **dict.fromkeys(WATCHING, "which is not supported"),
    "string_io_as_an_argument": "StringIO is not plain data",
    "pickled_object": "the tests pickle an object of the program",
    "source_is_read": "which is not supported",
    **dict.fromkeys(GIVEN_TO_EACH_OTHER, "which neither they nor"),
    "star_import_of_constants": "which neither they nor",
    **dict.fromkeys(COMPARED, "the tests compare, order or compute with objects of the program"),
}

FAILED = {  # not covered, as the guide says
    "tenth_answer_is_rightly_empty", "fourteenth_partition_by_a_pivot",
    "ninth_same_tuple", "ninth_nan_in_a_list_by_identity", "ninth_isinstance_of_a_union",
}  # fmt: skip


def sample(program):
    language = program.truth.get("language", "python")
    return Trajectory(prompt="?", response=f"```{language}\n{program.source}```", ground_truth=program.truth)


def test_right_programs_pass_or_are_not_scored_with_the_reason():
    """All in one batch per flavour, so that they run once however many workers the tests are spread over."""
    wrong, tried = {}, [PROGRAMS[name] for name in part(PROGRAMS, 3)]
    for flavour in ("plain", "numpy"):
        programs = [one for one in tried if ("import numpy" in f"{one.source}{one.truth}") == (flavour == "numpy")]
        outputs = CodeReward(flavour=flavour).compute_rewards([sample(one) for one in programs])
        for program, output in zip(programs, outputs, strict=True):
            if not _is_as_expected(program.name, output):
                wrong[program.name] = (output.reward, output.reason)
    assert not wrong
    assert any("import numpy" in str(program.truth) for program in tried)
    needing = [modules for modules, _ in shared_pool("numpy")._idle if "numpy" in modules]
    assert not needing, "tests that import what every judge of the flavour has need no judge of their own"


def _is_as_expected(name, output):
    if name in NOT_SCORED:
        return output.status is Status.UNPARSED and NOT_SCORED[name] in output.reason
    return output.reward == (0.0 if name in FAILED else 1.0)


def test_all_are_scored_but_for_those_whose_tests_compare_objects_or_watch_the_process():
    explained = len(COMPARED) + len(WATCHING) + len(GIVEN_TO_EACH_OTHER)
    assert len(NOT_SCORED) - explained <= 0.02 * len(PROGRAMS)
    assert len(PROGRAMS) == len(LISTED) >= 120  # names are unique


def test_objects_that_are_trusted_answer_for_themselves_and_the_output_says_so():
    outputs = CodeReward(objects="trust").compute_rewards([sample(PROGRAMS[name]) for name in COMPARED])
    for name, output in zip(COMPARED, outputs, strict=True):
        assert output.reward == 1.0, (name, output.reason)
        assert output.metadata["judged"] == "objects trusted"
