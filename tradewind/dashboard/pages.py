"""Every page of the dashboard, for the application."""

from collections.abc import Sequence

from tradewind.dashboard.account import login_routes
from tradewind.dashboard.account import routes as account_routes
from tradewind.dashboard.admin import (
    accounts_routes,
    audit_routes,
    orders_routes,
    platforms_routes,
    webhooks_routes,
)
from tradewind.dashboard.api_keys import routes as api_keys_routes
from tradewind.dashboard.approvals import routes as approvals_routes
from tradewind.dashboard.orders import routes as own_orders_routes
from tradewind.dashboard.overview import routes as overview_routes
from tradewind.dashboard.products import routes as products_routes
from tradewind.dashboard.search import routes as search_routes
from tradewind.dashboard.shell import live, problem_routes, static_files
from tradewind.dashboard.webhooks import deliveries_routes, replay_routes
from tradewind.dashboard.webhooks import routes as own_webhooks_routes
from tradewind.web.endpoint import Routes

ROUTES: Sequence[Routes] = (
    static_files.routes,
    live.routes,
    login_routes.routes,
    overview_routes.routes,
    own_webhooks_routes.routes,
    deliveries_routes.routes,
    replay_routes.routes,
    search_routes.routes,
    approvals_routes.routes,
    accounts_routes.routes,
    orders_routes.routes,
    webhooks_routes.routes,
    platforms_routes.routes,
    audit_routes.routes,
    own_orders_routes.routes,
    products_routes.routes,
    api_keys_routes.routes,
    account_routes.routes,
    problem_routes.routes,
)
