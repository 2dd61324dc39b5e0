"""Every page of the dashboard, for the application."""

from collections.abc import Sequence

from tradewind.dashboard import (
    live_routes,
    order_actions_routes,
    orders_routes,
    overview_routes,
    products_routes,
    sign_in_routes,
    static_routes,
)
from tradewind.web.endpoint import Routes

ROUTES: Sequence[Routes] = (
    static_routes.routes,
    live_routes.routes,
    sign_in_routes.routes,
    overview_routes.routes,
    orders_routes.routes,
    order_actions_routes.routes,
    products_routes.routes,
)
