"""`plaudit sample`: ask a trained model, and read what it says."""

from typing import Annotated, TypeAlias

import typer
from rich.text import Text

from plaudit import training
from plaudit.cli.console import print_json, print_result
from plaudit.cli.options import JsonOption
from plaudit.errors import InvalidSettings
from plaudit.report.terminal.formatting import escape_controls

__all__ = ["KeyVariableOption", "ModelArgument", "ServedModelOption", "sample"]

ModelArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RUN|MODEL|URL", help="A run folder, a model folder or name, or an OpenAI-compatible server."
    ),
]
ServedModelOption: TypeAlias = Annotated[
    str | None, typer.Option("--model", metavar="NAME", help="Which model of a server is meant.")
]

KeyVariableOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--api-key-env", metavar="NAME", help="The environment variable that holds the key of a server."),
]


def sample(
    model: ModelArgument,
    prompts: Annotated[list[str], typer.Argument(metavar="PROMPT...", help="What to ask.")],
    count: Annotated[int, typer.Option("-n", "--samples", min=1, help="How many responses to each prompt.")] = 1,
    temperature: Annotated[
        float, typer.Option("--temperature", "-t", min=0.0, help="0 gives the likeliest response.")
    ] = 0.0,
    max_new_tokens: Annotated[
        int | None,
        typer.Option("--max-new-tokens", min=1, help="How long a response may be; by default as in training."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Another seed draws other responses.")] = 0,
    served: ServedModelOption = None,
    api_key_env: KeyVariableOption = None,
    json: JsonOption = False,
) -> int:
    """Sample responses from a trained model; prompts go through the template that the run was trained with."""
    if count > 1 and temperature == 0:
        raise InvalidSettings(f"--samples {count} at temperature 0 are {count} times the same; add --temperature 1")
    trained = training.open_model(model, model=served, api_key_env=api_key_env)
    settings = training.SamplingSettings(max_new_tokens or trained.max_new_tokens, temperature=temperature, seed=seed)
    found = [{"prompt": prompt, "responses": trained.respond(prompt, count, settings=settings)} for prompt in prompts]
    if json:
        print_json(found)
        return 0
    for prompt, entry in zip(prompts, found, strict=True):
        if len(prompts) > 1:
            print_result(Text(escape_controls(prompt, keep="\n\t"), style="bold"))
        print_result(*(Text(escape_controls(response, keep="\n\t")) for response in entry["responses"]))
    return 0
