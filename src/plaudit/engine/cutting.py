"""Cut a stream of samples into units of work: about as many samples as take 20 ms, or whole groups.

Groups are collected until they end: when the samples of another group follow, unless the group comes back later, which
only a reward's `batch` scope can rule out. A group that comes in pieces is therefore an error, not two groups.
"""
