from .chat_endpoint import ChatEndpoint as ChatEndpoint
from .llm_judge import JudgePanel as JudgePanel
from .llm_judge import LLMJudge as LLMJudge
from .llm_judge import RubricReward as RubricReward
from .rubric import Criterion as Criterion
from .rubric import Example as Example
from .rubric import Rubric as Rubric
