"""The rows of the scorecard, with the tests that show each and the size of their long form."""

from tools.chaos.model import Row

_KILLED = "tests/chaos/test_deliveries_killed.py::test_"
_PLACE = "tests/orders/test_place.py::test_"
_EGRESS = "tests/egress/test_"
_ATTEMPTS = "tests/delivery/test_attempts.py::test_"
_OPTIONS = "tests/delivery/test_payload_options.py::test_"

ROWS: tuple[Row, ...] = (
    Row(
        1,
        "Workers are killed (SIGKILL) while events flow",
        "0 lost; duplicates ≤ 256, the most in flight to one host, for each kill",
        "events",
        (f"{_KILLED}no_event_is_lost_when_workers_are_killed_again_and_again",),
        {"SOAK_KILLS": "20"},
    ),
    Row(
        2,
        "The API is killed under load",
        "every acknowledged order exists once, with its event",
        "orders",
        ("tests/chaos/test_api_killed.py",),
    ),
    Row(
        3,
        "PostgreSQL is stopped (fast, immediate) under writes, or hangs under reads",
        "nothing acknowledged is lost; only 503, or 409 for a repeated request; recovery ≤ 5 s",
        "writes",
        ("tests/chaos/test_database_outage.py",),
    ),
    Row(
        4,
        "A worker is frozen (SIGSTOP) past its lease",
        "no stale overwrite, no second order or debit",
        "deliveries and orders",
        (
            f"{_KILLED}a_worker_that_froze_past_its_lease_overwrites_nothing",
            "tests/chaos/test_frozen_worker.py",
        ),
    ),
    Row(
        5,
        "Retry schedule, on a clock that the test moves",
        "attempts at 0, +60 and +360 s, three at most, then failed",
        "cases",
        (
            f"{_ATTEMPTS}three_attempts_and_no_fourth",
            f"{_ATTEMPTS}attempts_are_never_early_and_hardly_late",
            f"{_ATTEMPTS}an_endpoint_that_closes_kept_connections_gets_three_posts",
            "tests/delivery/test_retry_policy.py",
        ),
        counts_cases=True,
    ),
    Row(
        6,
        "Endpoints that hang, drip, flood, lie and close",
        "right outcome, one POST, ≤ 10.5 s, flat memory, lag ≤ 100 ms",
        "attempts",
        (f"{_EGRESS}misbehaving_receivers.py", f"{_EGRESS}one_post.py"),
    ),
    Row(
        7,
        "Endpoints that redirect to loopback, to themselves, to http",
        "no second request",
        "cases",
        (
            f"{_EGRESS}sender.py::test_a_redirect_is_not_followed",
            f"{_ATTEMPTS}a_redirect_is_a_failure_and_is_not_followed",
        ),
        counts_cases=True,
    ),
    Row(
        8,
        "The corpus of forbidden URLs, at registration and at the attempt",
        "0 wrong verdicts, 0 sockets",
        "cases",
        (f"{_EGRESS}corpus.py", "tests/webhooks/test_production_urls.py"),
        counts_cases=True,
    ),
    Row(
        9,
        "Signature vectors, near misses, and 1,500 deliveries that other code verifies",
        "0 wrong",
        "cases",
        (
            "tests/webhooks/test_signing.py",
            "tests/sdk/python/test_verify.py",
            "tests/delivery/test_worker.py::test_two_workers_send_everything_once",
            f"{_OPTIONS}own_headers_and_standard_webhooks_are_sent_and_never_shown",
        ),
        counts_cases=True,
    ),
    Row(
        10,
        "Black hole, dead name and dripping endpoint beside healthy ones",
        "healthy deliveries wait at most 1.2 times as long in the calmest of 8 windows",
        "deliveries",
        ("tests/chaos/test_fairness.py",),
    ),
    Row(
        11,
        "Twenty requests at once with one idempotency key, for 200 keys",
        "one effect for each key",
        "requests",
        (f"{_PLACE}of_twenty_requests_with_one_key_at_once_one_makes_an_order",),
        {"SOAK_KEYS": "200"},
    ),
    Row(
        12,
        "The marketplace drops, delays and repeats responses; workers are killed",
        "one order and one debit for each reference",
        "orders",
        ("tests/chaos/test_ambiguous_platform.py",),
        {"SOAK_STORIES": "1"},
    ),
    Row(
        13,
        "Random stories of buyers, approvers, sellers, time and faults",
        "0 violations of the invariants",
        "stories",
        ("tests/orders/test_state_machine.py",),
        {"SOAK_STORIES": "20"},
    ),
    Row(
        14,
        "The delivery engine in virtual time, with crashes, by seed",
        "0 violations",
        "stories",
        ("tests/chaos/test_engine_virtual.py",),
        {"SOAK_STORIES": "1"},
    ),
    Row(
        15,
        "Ten thousand password guesses, for known and unknown e-mails; a locked account",
        "exactly ten are checked for each; same answer, same work; "
        "locked: 403, but 401 for a wrong password",
        "guesses",
        (
            "tests/auth/test_many_guesses.py",
            "tests/auth/test_login.py::test_unknown_and_known_emails_cannot_be_told_apart",
            "tests/accounts/test_admin.py::test_a_locked_account_gets_403_with_every_credential",
        ),
        {"SOAK_STORIES": "1"},
    ),
    Row(
        16,
        "Key, session and account are revoked under load, two API processes",
        "0 requests accepted that were sent after the answer",
        "requests",
        ("tests/auth/test_revocation.py",),
    ),
    Row(
        17,
        "Generated requests for every operation; ids of other accounts",
        "0 server errors, 0 schema violations, 0 foreign objects",
        "requests",
        ("tests/openapi/test_generated_requests.py", "tests/openapi/test_foreign_ids.py"),
    ),
    Row(
        18,
        "API and workers are stopped (SIGTERM) under load, 20 times each",
        "0 broken requests, 0 re-sends, exit ≤ 15 s",
        "requests and deliveries",
        (
            "tests/chaos/test_stopping.py",
            f"{_KILLED}no_event_is_sent_twice_when_workers_are_told_to_stop_under_load",
        ),
        {"SOAK_KILLS": "20"},
    ),
    Row(
        19,
        "200,000 deliveries are pending (`make soak`: a million)",
        "last quarter as cheap as the first; flat memory",
        "deliveries",
        ("tests/chaos/test_long_queue.py",),
        {"SOAK_ROWS": "200000"},
    ),
    Row(
        20,
        "Header bombs, HTTP/2 prefaces, silent and slow clients, two credentials, forged cursors",
        "right status; flat memory; others wait at most 1.2 times as long in the lower quartile",
        "connections and cursors",
        (
            "tests/chaos/test_hostile_clients.py",
            "tests/web/test_headers.py::test_two_different_credentials_in_one_header_are_rejected",
            "tests/web/test_forged_cursors.py",
        ),
    ),
    Row(
        21,
        "Failover to a synchronous standby under load",
        "acknowledged = journaled = delivered = read by cursor",
        "orders",
        ("tests/chaos/test_failover_under_load.py", "tests/events/test_failover.py"),
        {"SOAK_FAILOVER": "1"},
    ),
    Row(
        22,
        "One account at its limits, by slow queries or by downloads, beside another",
        "the other waits at most 1.5 times as long",
        "requests",
        ("tests/web/test_concurrency.py", "tests/exports/test_downloads_beside_others.py"),
    ),
)
