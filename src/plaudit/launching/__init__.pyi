from .launch import Launch as Launch
from .launch import Machines as Machines
from .tables import plan_launch as plan_launch
