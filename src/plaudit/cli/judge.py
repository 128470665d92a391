"""`plaudit judge calibrate`: how far a language model can be trusted as a judge."""

from pathlib import Path
from typing import Annotated, Any

from rich.console import RenderableType
from rich.markup import escape
from typer import Argument, Option

from plaudit import calibration
from plaudit.cli import options
from plaudit.cli.app import DONE, NOT_PASSED, CommandGroup, OptionGroup
from plaudit.errors import InvalidSettings
from plaudit.judges.llm_judge import LLMJudge, RubricJudge, RubricReward
from plaudit.loading import resolve
from plaudit.report.formatting import bare_table
from plaudit.settings import read_yaml
from plaudit.trajectory import Trajectory


class JudgeServer(options.ServedModel):
    """The endpoint of a judge for a rubric file."""

    url: Annotated[str | None, Option("--url", help="The server of a judge for a rubric file.")] = None


class Answers(OptionGroup):
    """Where the answers of the judge are recorded, or taken from."""

    record: Annotated[
        Path | None, options.file_option("--record", "Record all answers; known ones are not asked again.")
    ] = None
    replay: Annotated[
        Path | None, options.file_option("--replay", "Take all answers from a record; no endpoint is asked.")
    ] = None

    def transcript(self) -> "calibration.Transcript | None":
        """The record that the options name."""
        if self.record is not None and self.replay is not None:
            raise InvalidSettings("--record asks the judge and --replay does not; name one of them")
        path = self.record or self.replay
        return None if path is None else calibration.Transcript(path, replay=self.replay is not None)


class PeopleLabels(OptionGroup):
    """The labels of people, or the page on which people give them."""

    page: Annotated[Path | None, options.file_option("--page", "Write a page for labelling, and stop.")] = None
    count: Annotated[int, options.count("How many responses the page has.")] = 100
    labels: Annotated[Path | None, options.file_option("--labels", "Labels that were downloaded from the page.")] = None
    against: options.Against = None

    def read(self, chosen: RubricJudge, samples: list[Trajectory]) -> "calibration.Labels":
        """The labels in a file or in a column."""
        if (self.labels is None) == (self.against is None):
            raise InvalidSettings(
                "name the labels of people, by --labels FILE or --against COLUMN; --page FILE writes a page for them"
            )
        if self.labels is not None:
            return calibration.read_labels(self.labels, chosen, samples)
        return calibration.labels_of_column(str(self.against), chosen, samples)


class BiasTests(OptionGroup):
    """The tests of a judge for biases."""

    probes: Annotated[int, Option("--probes", min=10, help="The most pairs for each test of a bias.")] = 100
    author: Annotated[
        str | None, Option("--author", metavar="COLUMN", help="Which model wrote a response; `model` by default.")
    ] = None
    judge_author: Annotated[
        str | None, Option("--judge-author", metavar="NAME", help="The judge's model there; --model by default.")
    ] = None


class Certificate(OptionGroup):
    """The certificate that is written, and the findings that it accepts."""

    out: Annotated[Path | None, options.out_file("Write the certificate here.")] = None
    accept: Annotated[
        list[str] | None,
        Option("--accept-finding", metavar="FINDING", help="Accept this finding in the certificate; repeatable."),
    ] = None
    overwrite: options.Overwrite = False


def calibrate_command(
    rubric: Annotated[
        str, Argument(metavar="RUBRIC", help="A rubric (YAML) with --url and --model, or the spec of a judge.")
    ],
    rollouts: options.Rollouts,
    rows: options.Rows,
    server: JudgeServer,
    answers: Answers,
    people: PeopleLabels,
    bias: BiasTests,
    certificate: Certificate,
    output: options.Output,
    threshold: Annotated[float, Option("--threshold", help="The least share of the scale that counts as a yes.")] = 0.5,
) -> int:
    """Compare a judge with people, and test it for biases and for the known failures of rubrics.

    First --page, then --labels (or --against, a column). The exit code is 1 if something was found and not accepted.
    """
    options.check_output(answers.record)
    options.check_output(people.page, certificate.out, overwrite=certificate.overwrite)
    chosen = _load_judge(rubric, server)
    samples = rows.read_samples(rollouts)
    if people.page is not None:
        title = f"Labels for {Path(rubric).name}"
        written = calibration.write_labelling_page(people.page, chosen, samples, people.count, title)
        where = f"{people.page}; open it in a browser, and download the labels"
        output.note(f"the page with {written} responses is {where}")
        return 0
    result = calibration.calibrate(
        chosen, samples, people.read(chosen, samples), threshold=threshold, most=bias.probes, author=bias.author,
        judge_author=bias.judge_author, transcript=answers.transcript(),
    )  # fmt: skip
    accepted = certificate.accept or []
    if certificate.out is not None:
        calibration.write_certificate(certificate.out, chosen, result.to_dict(), accepted)
    output.show(result.to_dict(), *_render(result))
    return NOT_PASSED if set(result.findings) - set(accepted) else DONE


def _load_judge(spec: str, server: JudgeServer) -> RubricJudge:
    """The judge of a rubric file and an endpoint, or of a spec."""
    url, model, key = server.url, server.served, server.api_key_env
    is_rubric = spec.endswith((".yaml", ".yml")) and Path(spec).exists() and _is_rubric(read_yaml(spec, "rubric"))
    if is_rubric:
        if url is None or model is None:
            raise InvalidSettings(
                f"{spec} is a rubric; name its judge by --url and --model, or give the spec of a judge"
            )
        endpoint = {"url": url, "model": model, "api_key_env": key}
        graded = {"scale", "examples"} & read_yaml(spec, "rubric").keys()
        return LLMJudge(endpoint, spec) if graded else RubricReward(endpoint, spec)
    if url is not None or model is not None or key is not None:
        raise InvalidSettings(
            f"--url, --model and --api-key-env are for rubric files; {spec} names its endpoint itself"
        )
    reward = resolve(spec).reward
    if not isinstance(reward, RubricJudge):
        raise InvalidSettings(f"{spec} is no single judge (LLMJudge or RubricReward); calibrate each judge by itself")
    return reward


def _is_rubric(plain: Any) -> bool:
    return isinstance(plain, dict) and bool({"criteria", "instructions"} & plain.keys())


def _render(result: "calibration.Calibration") -> list[RenderableType]:
    unanswered = ", ".join(f"{count} {status}" for status, count in result.unanswered.items())
    head = f"{result.samples} samples" + (f", without a verdict: {unanswered}" if unanswered else "")
    measures = [
        (f"{each.criterion} ({each.count} labels)" if name == "Cohen's κ" else "", name, str(measure))
        for each, mean in zip(result.agreements, result.means, strict=True)
        for name, measure in _measures(each, mean).items()
    ]
    agreement = bare_table("criterion", "measure", "value (95 % interval)", rows=measures)
    compared = (
        (
            test.kind,
            str(test.pairs),
            str(test.effect or "not tested"),
            f"{test.corrected_p:.2g}" if test.effect else "",
            "" if test.detectable is None else f"{test.detectable:.2f}",
        )
        for test in result.tests
    )
    tests = bare_table("test", "pairs", "effect", "corrected p", "detectable from", rows=compared)
    notes = [f"not tested: {test.kind}: {test.note}" for test in result.tests if test.effect is None]
    notes += [
        f"warning: {name} makes {len(parts)} demands at once, split it: {' | '.join(parts)}"
        for name, parts in result.compound.items()
    ]
    findings = [f"finding: {kind}: {words}" for kind, words in result.findings.items()] or [
        "no findings: effects as large as those in the last column are improbable, smaller ones would not be found"
    ]
    return [head, agreement, tests, *map(escape, [*notes, *findings])]


def _measures(agreement: "calibration.Agreement", mean: "calibration.CorrectedMean") -> dict[str, object]:
    return {
        "Cohen's κ": agreement.kappa, "accuracy": agreement.accuracy, "sensitivity": agreement.sensitivity,
        "specificity": agreement.specificity, "people say yes": agreement.base_rate,
        "the judge says yes": agreement.judge_rate, f"yes, of all {mean.judged}": f"{mean.raw:.2f}",
        "corrected for errors": mean.corrected or "not identifiable",
    }  # fmt: skip


judge = CommandGroup(help="Calibrate language models as judges.", commands={"calibrate": calibrate_command})
