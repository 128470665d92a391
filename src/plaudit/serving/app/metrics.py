"""Counts for Prometheus: requests, samples by status, lost workers, seconds per request.

They are plain numbers while requests are handled; prometheus_client formats them when /metrics is read.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector, CollectorRegistry

METRICS_TYPE = CONTENT_TYPE_LATEST.encode()
BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics(Collector):
    """Counts since the server started; `gauges` holds current values by name and reward."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()  # by path and status
        self.samples: Counter[tuple[str, str]] = Counter()  # by reward and status
        self.losses: Counter[tuple[str, str]] = Counter()  # by reward and cause
        self.reloads: Counter[tuple[str, str]] = Counter()  # by reward and outcome
        self.gauges: dict[str, dict[str, float]] = {}
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def observe(self, path: str, seconds: float) -> None:
        """Count one answered request that took so long."""
        buckets = self._buckets.setdefault(path, [0] * (len(BOUNDS) + 1))
        buckets[bisect_left(BOUNDS, seconds)] += 1
        self._seconds[path] = self._seconds.get(path, 0.0) + seconds

    def render(self) -> bytes:
        """The text that Prometheus reads."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """The metrics, for prometheus_client."""
        yield _counter("requests", "Requests answered.", ("path", "status"), self.requests)
        yield _counter("samples", "Samples by status.", ("reward", "status"), self.samples)
        yield _counter("workers_lost", "Workers that had to be replaced.", ("reward", "how"), self.losses)
        yield _counter("reloads", "Reloads of a reward.", ("reward", "outcome"), self.reloads)
        for name, values in self.gauges.items():
            gauge = GaugeMetricFamily(f"plaudit_{name}", name.replace("_", " "), labels=("reward",))
            for reward, value in values.items():
                gauge.add_metric((reward,), value)
            yield gauge
        histogram = HistogramMetricFamily(
            "plaudit_request_seconds", "Seconds from request to answer.", labels=("path",)
        )
        for path, buckets in self._buckets.items():
            labelled = zip(map(str, (*BOUNDS, "+Inf")), accumulate(buckets), strict=True)
            histogram.add_metric((path,), list(labelled), self._seconds[path])
        yield histogram


def _counter(name: str, about: str, labels: tuple[str, str], counts: Mapping[tuple[Any, Any], int]) -> Metric:
    family = CounterMetricFamily(f"plaudit_{name}", about, labels=labels)
    for key, count in counts.items():
        family.add_metric([str(part) for part in key], count)
    return family
