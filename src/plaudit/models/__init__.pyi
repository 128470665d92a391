from .classifiers import PipelineReward as PipelineReward
from .classifiers import RewardModel as RewardModel
from .process_reward_model import ProcessRewardModel as ProcessRewardModel
from .reference_rewards import LikelihoodReward as LikelihoodReward
from .reference_rewards import SimilarityReward as SimilarityReward
