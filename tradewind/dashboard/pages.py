"""Every page of the dashboard, for the application."""

from collections.abc import Sequence

from tradewind.dashboard import (
    account_routes,
    keys_routes,
    link_routes,
    live_routes,
    overview_routes,
    problem_routes,
    sign_in_routes,
    static_routes,
)
from tradewind.web.endpoint import Routes

ROUTES: Sequence[Routes] = (
    static_routes.routes,
    live_routes.routes,
    sign_in_routes.routes,
    overview_routes.routes,
    keys_routes.routes,
    account_routes.routes,
    link_routes.routes,
    problem_routes.routes,
)
