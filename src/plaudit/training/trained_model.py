"""Use a model after its training: find it by name, sample from it, evaluate it, and merge its adapters.

A model is named by a run folder, by anything that `model.path` of a config takes, or by the URL of an OpenAI-compatible
server. A run's prompts use its template, so prompts to its model use the same one.
"""

from dataclasses import dataclass
from pathlib import Path

from plaudit.contract.function import RewardLike
from plaudit.errors import InvalidSettings, PolicyError
from plaudit.training.config.keys import read_config_file
from plaudit.training.config.reading import load_config
from plaudit.training.config.schema import RunConfig, SamplingSettings
from plaudit.training.data.sources import PromptTemplate
from plaudit.training.model.loading import load_policy
from plaudit.training.model.policy import Policy
from plaudit.training.reporting.run_folder import RunFolder
from plaudit.training.sampling.endpoint import EndpointSampler
from plaudit.training.sampling.sampler import Sampler
from plaudit.training.tasks.config_task import load_task
from plaudit.training.tasks.task import Task

__all__ = ["TrainedModel", "load_run_task", "merge_model", "open_model"]


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model that responds to prompts, and how prompts are put to it."""

    name: str
    sampler: Sampler
    template: PromptTemplate
    max_new_tokens: int

    def respond(self, prompt: str, count: int = 1, *, settings: SamplingSettings | None = None) -> list[str]:
        """`count` responses to a prompt in the template of the training."""
        settings = settings or SamplingSettings(max_new_tokens=self.max_new_tokens)
        filled = self.template.fill({"prompt": prompt}, prompt)
        return self.sampler.sample([filled], count, settings=settings).texts


def open_model(
    spec: str,
    *,
    model: str | None = None,
    api_key_env: str | None = None,
    device: str = "cpu",
    dtype: str = "float32",
) -> TrainedModel:
    """The model that `spec` names: a run folder, a model as `model.path` takes it, or a server's URL.

    `model` is the name by which a server knows the model, `api_key_env` the environment variable with its key.
    """
    if "://" in spec:
        if model is None:
            raise InvalidSettings(f"{spec} may serve several models; name the one that is meant (--model NAME)")
        sampler = EndpointSampler(spec, model, api_key_env=api_key_env)
        return TrainedModel(model, sampler, PromptTemplate(), sampler.settings.max_new_tokens)
    config = _config_of(spec)
    policy = load_policy(_model_path(spec), device=device, dtype=dtype)
    template = PromptTemplate()
    longest = SamplingSettings().max_new_tokens
    if config is not None:
        data = config.data
        template = PromptTemplate(data.prompt_template, system=data.system_prompt, chat=data.chat_template)
        longest = config.sampling.max_new_tokens or longest
    return TrainedModel(spec, policy.sampler(), template, longest)


def load_run_task(spec: str, reward: RewardLike | str | None = None) -> Task | None:
    """What the run in a folder was trained on, with its held-out prompts; None for anything but a run.

    `reward` takes the place of the run's.
    """
    config = _config_of(spec)
    return None if config is None else load_task(config, reward or config.training.reward_function)


def merge_model(spec: str, folder: str | Path) -> Policy:
    """Write the model that `spec` names to `folder`, its adapters built in, as transformers loads it by itself."""
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise PolicyError(f"{target} is there already and not an empty folder; take another")
    policy = load_policy(_model_path(spec))
    if not policy.is_lora:
        raise PolicyError(f"{spec} has no adapters to build in: transformers loads {_model_path(spec)} as it is")
    merged = policy.merge_adapters()
    merged.save(target)
    return merged


def _config_of(spec: str) -> RunConfig | None:
    """The config of a run folder; None for anything else."""
    folder = RunFolder(Path(spec))
    return load_config(None, [], base=read_config_file(folder.config)) if folder.holds_run else None


def _model_path(spec: str) -> str:
    """Where the model that a spec names is: a run keeps its own in a folder."""
    folder = RunFolder(Path(spec))
    if not folder.holds_run:
        return spec
    if not folder.model.is_dir():
        raise PolicyError(
            f"the run in {spec} has no model yet: it is written at the end; `plaudit train --resume output_dir={spec}` "
            "goes on with it"
        )
    return str(folder.model)
