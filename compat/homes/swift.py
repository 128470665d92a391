"""ms-swift: its ORM registry, which a plug-in file enters the reward in; its own ORMs."""

from suite import Shipped, load_shim
from swift.rewards import orms

SYSTEM, DISTRIBUTION = "swift", "ms-swift"
RAN = "the shim as a plug-in, then what orms gives by its name, called as GRPOTrainer calls it; its own ORMs"


def registered(shim, rollouts):
    load_shim(shim)
    orm = orms[shim.stem.rpartition("_")[2]](args=None)
    chats = [
        [{"role": "user", "content": each.prompt}, {"role": "assistant", "content": each.response}] for each in rollouts
    ]
    return orm([each.response for each in rollouts], messages=chats, solution=[each.truth for each in rollouts])


FORMS = {"swift": registered}


def shipped():
    for name in ("format", "react_format", "accuracy"):
        kind = orms[name]

        def home(rollouts, kind=kind):
            return kind()([each.response for each in rollouts], solution=[each.truth for each in rollouts])

        yield Shipped(f"swift.rewards.orm:{kind.__name__}", home, dialect="swift")
