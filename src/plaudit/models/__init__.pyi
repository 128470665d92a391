from .embeddings import SimilarityReward as SimilarityReward
from .likelihood import LikelihoodReward as LikelihoodReward
from .pipeline_reward import PipelineReward as PipelineReward
from .process_reward_model import ProcessRewardModel as ProcessRewardModel
from .reward_model import RewardModel as RewardModel
