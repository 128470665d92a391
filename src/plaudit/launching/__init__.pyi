from .launch import Launch as Launch
from .launch import plan_launch as plan_launch
from .trainer_table import Machines as Machines
