from .command_builder import Launch as Launch
from .command_builder import Machines as Machines
from .launch import plan_launch as plan_launch
