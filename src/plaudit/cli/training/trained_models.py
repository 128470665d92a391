"""`plaudit sample` and `plaudit merge`: responses of a trained model, and a LoRA run as one model."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from plaudit import training
from plaudit.cli import options
from plaudit.cli.console import print_json, print_message, print_result
from plaudit.errors import InvalidSettings
from plaudit.report.formatting import escape_controls

__all__ = ["merge", "sample"]


def sample(
    model: options.Model,
    prompts: Annotated[list[str], typer.Argument(metavar="PROMPT...", help="What to ask.")],
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many responses to each prompt.")] = 1,
    temperature: options.Temperature = 0.0,
    max_new_tokens: Annotated[
        int | None,
        typer.Option("--max-new-tokens", min=1, help="How long a response may be; by default as in training."),
    ] = None,
    seed: options.Seed = 0,
    served: options.ServedModel = None,
    api_key_env: options.KeyVariable = None,
    json: options.Json = False,
) -> int:
    """Sample responses from a trained model; prompts go through the template that the run was trained with."""
    if count > 1 and temperature == 0:
        raise InvalidSettings(f"--count {count} at temperature 0 are {count} times the same; add --temperature 1")
    trained = training.open_model(model, model=served, api_key_env=api_key_env)
    settings = training.SamplingSettings(max_new_tokens or trained.max_new_tokens, temperature=temperature, seed=seed)
    answers = [{"prompt": prompt, "responses": trained.respond(prompt, count, settings=settings)} for prompt in prompts]
    if json:
        print_json(answers)
        return 0
    for prompt, entry in zip(prompts, answers, strict=True):
        if len(prompts) > 1:
            print_result(Text(escape_controls(prompt, keep="\n\t"), style="bold"))
        print_result(*(Text(escape_controls(response, keep="\n\t")) for response in entry["responses"]))
    return 0


def merge(
    model: Annotated[str, typer.Argument(metavar="RUN|ADAPTER", help="A run trained with LoRA, or an adapter folder.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where the whole model goes.")],
) -> int:
    """Write the model of a LoRA run with its adapters built in."""
    training.merge_model(model, out)
    print_message(f'wrote {out}; transformers loads it: AutoModelForCausalLM.from_pretrained("{out}")')
    return 0
