from .agents import load_agent as load_agent
from .building import Loaded as Loaded
from .catalogue import Listing as Listing
from .catalogue import available as available
from .catalogue import listing_of as listing_of
from .expressions import spec_using as spec_using
from .resolving import load as load
from .resolving import resolve as resolve
