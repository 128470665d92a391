from .difference import ChangeCounts as ChangeCounts
from .difference import Difference as Difference
from .difference import DifferenceBuilder as DifferenceBuilder
from .difference import Disagreement as Disagreement
from .difference import Sides as Sides
from .group_order import GroupDifference as GroupDifference
from .matching import compare_files as compare_files
from .matching import compare_rewards as compare_rewards
