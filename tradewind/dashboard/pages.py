"""Every page of the dashboard, for the application."""

from collections.abc import Sequence

from tradewind.dashboard.account import login_routes, password_link_routes
from tradewind.dashboard.account import routes as account_routes
from tradewind.dashboard.admin import accounts_routes, audit_routes, platforms_routes
from tradewind.dashboard.admin import orders_routes as admin_orders_routes
from tradewind.dashboard.admin import webhooks_routes as admin_webhooks_routes
from tradewind.dashboard.api_keys import routes as api_keys_routes
from tradewind.dashboard.approvals import routes as approvals_routes
from tradewind.dashboard.orders import actions_routes
from tradewind.dashboard.orders import routes as orders_routes
from tradewind.dashboard.overview import routes as overview_routes
from tradewind.dashboard.products import routes as products_routes
from tradewind.dashboard.search import routes as search_routes
from tradewind.dashboard.shell import live_routes, problem_routes, static_routes
from tradewind.dashboard.webhooks import (
    deliveries_routes,
    explain_routes,
    replay_routes,
    test_delivery_routes,
)
from tradewind.dashboard.webhooks import routes as webhooks_routes
from tradewind.web.endpoint import Routes

ROUTES: Sequence[Routes] = (
    static_routes.routes,
    live_routes.routes,
    login_routes.routes,
    overview_routes.routes,
    webhooks_routes.routes,
    deliveries_routes.routes,
    replay_routes.routes,
    test_delivery_routes.routes,
    explain_routes.routes,
    search_routes.routes,
    approvals_routes.routes,
    accounts_routes.routes,
    admin_orders_routes.routes,
    admin_webhooks_routes.routes,
    platforms_routes.routes,
    audit_routes.routes,
    orders_routes.routes,
    actions_routes.routes,
    products_routes.routes,
    api_keys_routes.routes,
    account_routes.routes,
    password_link_routes.routes,
    problem_routes.routes,
)
