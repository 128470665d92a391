from .reward_model import RewardModel as RewardModel
