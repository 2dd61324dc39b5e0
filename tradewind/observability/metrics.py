"""Metrics: the counters and histograms of every process."""

from collections.abc import Callable

from prometheus_client import REGISTRY, CollectorRegistry, Counter, Histogram, multiprocess

Observe = Callable[[float], None]

# Several API processes are summed through files that prometheus_client maps into memory. It looks
# for this variable when it is imported, so the parent sets it before any of its children starts.
SHARED_FILES = "PROMETHEUS_MULTIPROC_DIR"

_REQUESTS = Counter("tradewind_http_requests", "Requests by route and status.", ["route", "status"])
_REQUEST_SECONDS = Histogram(
    "tradewind_http_request_seconds",
    "Time from a request's arrival to its response, by route.",
    ["route"],
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
PASSWORD_CHECKS = Counter(
    "tradewind_password_checks", "Passwords hashed for a comparison, including dummy comparisons."
)
LOGINS = Counter("tradewind_logins", "Logins by result.", ["result"])
ADMISSION_BATCH = Histogram(
    "tradewind_admission_batch_requests",
    "Requests whose credentials and budgets were looked up by one statement.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
)
RATE_LIMITED = Counter(
    "tradewind_rate_limited", "Requests rejected by the rate limit, by plan.", ["plan"]
)

# What runs in the background reports failures here: nobody waits for a response that shows them.
LOOP_FAILURES = Counter(
    "tradewind_loop_failures", "Steps of background loops that failed.", ["loop"]
)
TASK_FAILURES = Counter(
    "tradewind_scheduled_task_failures", "Scheduled tasks that failed.", ["task"]
)

_PLATFORM_CALLS = Counter(
    "tradewind_platform_calls",
    "Calls to marketplaces by operation and result.",
    ["platform", "operation", "result"],
)
_PLATFORM_SECONDS = Histogram(
    "tradewind_platform_call_seconds",
    "Time that calls to marketplaces took.",
    ["platform", "operation"],
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


def request_observer(route: str, status: int) -> Observe:
    """A function that counts one response of `route` with `status`; it is called per request."""
    return _observer(_REQUESTS.labels(route, str(status)), _REQUEST_SECONDS.labels(route))


def platform_call_observer(platform: str, operation: str, result: str) -> Observe:
    """The same for one call to a marketplace that had this result."""
    return _observer(
        _PLATFORM_CALLS.labels(platform, operation, result),
        _PLATFORM_SECONDS.labels(platform, operation),
    )


def _observer(counter: Counter, histogram: Histogram) -> Observe:
    count, time = counter.inc, histogram.observe

    def observe(seconds: float) -> None:
        count()
        time(seconds)

    return observe


def registry(shared_files: str | None) -> CollectorRegistry:
    """The metrics of this process, or the sum over the processes that share these files."""
    if shared_files is None:
        return REGISTRY
    summed = CollectorRegistry()
    multiprocess.MultiProcessCollector(summed, path=shared_files)  # type: ignore[no-untyped-call]
    return summed
