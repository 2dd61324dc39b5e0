"""The page about performance, for operators."""

from tradewind.auth.model import Operator
from tradewind.dashboard.guides.library import Guides
from tradewind.dashboard.performance.published import published_figures
from tradewind.dashboard.performance.reader import PerformanceReader
from tradewind.dashboard.performance.views import (
    PUBLISHED_LATENCY,
    latency,
    performance_view,
    rate,
    size,
)
from tradewind.dashboard.shell.render import PageRoutes, TemplatePage

routes = PageRoutes("/performance")

# The page about the figures of a known machine.
_PUBLISHED = "explanation/performance.md"


@routes.get(expensive=True)
async def show_performance(
    caller: Operator, reader: PerformanceReader, guides: Guides
) -> TemplatePage:
    """Show rates, latencies and costs of this installation, to compare with the published ones."""
    read = await reader.read()
    return TemplatePage(
        "performance/performance.html",
        read=read,
        view=performance_view(read),
        published=published_figures(),
        published_latency=PUBLISHED_LATENCY,
        published_url=guides.url(_PUBLISHED),
        latency=latency,
        rate=rate,
        size=size,
    )
