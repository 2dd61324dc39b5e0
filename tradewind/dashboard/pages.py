"""Every page of the dashboard, for the application."""

from collections.abc import Sequence

from tradewind.dashboard.account import routes as account
from tradewind.dashboard.addresses import routes as addresses
from tradewind.dashboard.admin import accounts_routes, platforms_routes
from tradewind.dashboard.admin import routes as admin
from tradewind.dashboard.api_keys import routes as api_keys
from tradewind.dashboard.approvals import routes as approvals
from tradewind.dashboard.cart import routes as cart
from tradewind.dashboard.guides import routes as guides
from tradewind.dashboard.imports import routes as imports
from tradewind.dashboard.orders import routes as orders
from tradewind.dashboard.overview import routes as overview
from tradewind.dashboard.performance import routes as performance
from tradewind.dashboard.products import product_routes
from tradewind.dashboard.products import routes as products
from tradewind.dashboard.reference import routes as reference
from tradewind.dashboard.search import routes as search
from tradewind.dashboard.shell import routes as shell
from tradewind.dashboard.webhooks import deliveries_routes
from tradewind.dashboard.webhooks import routes as webhooks
from tradewind.web.endpoint import Routes

ROUTES: Sequence[Routes] = (
    shell.static_routes,
    shell.live_routes,
    shell.problem_routes,
    guides.routes,
    account.routes,
    overview.routes,
    addresses.routes,
    webhooks.routes,
    deliveries_routes.routes,
    search.routes,
    approvals.routes,
    admin.routes,
    accounts_routes.routes,
    platforms_routes.routes,
    performance.routes,
    orders.routes,
    imports.routes,
    products.routes,
    product_routes.routes,
    cart.routes,
    api_keys.routes,
    reference.routes,
)
