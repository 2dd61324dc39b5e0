"""Every page of the dashboard, for the application."""

from collections.abc import Sequence

from tradewind.dashboard import (
    accounts_routes,
    admin_orders_routes,
    approvals_routes,
    audit_routes,
    deliveries_routes,
    endpoints_routes,
    explain_routes,
    live_routes,
    order_actions_routes,
    orders_routes,
    overview_routes,
    platforms_routes,
    products_routes,
    recovery_routes,
    search_routes,
    sign_in_routes,
    static_routes,
    try_out_routes,
    webhooks_routes,
)
from tradewind.web.endpoint import Routes

ROUTES: Sequence[Routes] = (
    static_routes.routes,
    live_routes.routes,
    sign_in_routes.routes,
    overview_routes.routes,
    webhooks_routes.routes,
    deliveries_routes.routes,
    recovery_routes.routes,
    try_out_routes.routes,
    explain_routes.routes,
    search_routes.routes,
    approvals_routes.routes,
    accounts_routes.routes,
    admin_orders_routes.routes,
    endpoints_routes.routes,
    platforms_routes.routes,
    audit_routes.routes,
    orders_routes.routes,
    order_actions_routes.routes,
    products_routes.routes,
)
