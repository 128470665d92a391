"""What the server counts, as Prometheus reads it.

Counted in plain numbers, since every request passes here; prometheus_client turns them into text when it is asked.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

__all__ = ["Metrics", "TEXT"]

TEXT = CONTENT_TYPE_LATEST.encode()
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics(Collector):
    """Counts since the server started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()  # by path and status
        self.samples: Counter[tuple[str, str]] = Counter()  # by reward and status
        self.losses: Counter[tuple[str, str]] = Counter()  # by reward and how
        self.gauges: dict[str, dict[str, float]] = {}  # by name and reward; "" where it is the server's
        self.reloads: Counter[tuple[str, str]] = Counter()  # by reward and outcome
        self.replays = 0
        self._buckets: dict[str, list[int]] = {}
        self._sums: Counter[str] = Counter()
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def observe(self, path: str, seconds: float) -> None:
        """A request was answered after so long."""
        buckets = self._buckets.get(path)
        if buckets is None:
            buckets = self._buckets[path] = [0] * (len(BOUNDS) + 1)
        buckets[bisect_left(BOUNDS, seconds)] += 1
        self._sums[path] += seconds  # type: ignore[assignment]  # a Counter holds any number

    def render(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """The metrics, for prometheus_client."""
        yield _counter("requests", "Requests answered.", ("path", "status"), self.requests)
        yield _counter("samples", "Samples by status.", ("reward", "status"), self.samples)
        yield _counter("workers_lost", "Workers that had to be replaced.", ("reward", "how"), self.losses)
        yield _counter("reloads", "Reloads of a reward.", ("reward", "outcome"), self.reloads)
        yield CounterMetricFamily("plaudit_replays", "Requests answered from a kept answer.", value=self.replays)
        for name, values in self.gauges.items():
            gauge = GaugeMetricFamily(f"plaudit_{name}", name.replace("_", " "), labels=("reward",))
            for reward, value in values.items():
                gauge.add_metric((reward,), value)
            yield gauge
        seconds = HistogramMetricFamily("plaudit_request_seconds", "From the request to its answer.", labels=("path",))
        for path, buckets in self._buckets.items():
            counts = list(accumulate(buckets))
            named = [(str(bound), count) for bound, count in zip((*BOUNDS, "+Inf"), counts, strict=True)]
            seconds.add_metric((path,), named, self._sums[path])
        yield seconds


def _counter(
    name: str, about: str, labels: tuple[str, str], counts: "Counter[tuple[str, int]] | Counter[tuple[str, str]]"
) -> Metric:
    family = CounterMetricFamily(f"plaudit_{name}", about, labels=labels)
    for key, count in counts.items():
        family.add_metric([str(part) for part in key], count)
    return family
