-- The first schema: accounts, marketplaces, orders, payments, events, webhooks and deliveries.

-- Time and ids ------------------------------------------------------------------------------------

-- The clock of every query. Test databases replace it with one that can be moved.
CREATE FUNCTION tradewind_now() RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
    AS 'SELECT statement_timestamp()';

-- A new UUID version 7, ordered by time to the millisecond. These ids are not secret, so random()
-- is good enough; gen_random_uuid() may open a file of the system for each and takes four times as
-- long, and a claim makes one for every row.
CREATE FUNCTION tradewind_uuid7() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    SELECT encode(
               -- Milliseconds (48 bits), the version (7), 12 random bits.
               int8send((date_part('epoch', tradewind_now()) * 1000)::bigint << 16
                        | 28672 | (random() * 4095)::bigint)
               -- The variant (binary 10), 62 random bits.
               || int8send(-9223372036854775808 | (random() * 4611686018427387904)::bigint),
               'hex')::uuid
$$;

-- Partitions --------------------------------------------------------------------------------------

-- Makes the partition of one day if it is missing. Attaching it does not block writers to the other
-- partitions. A unique index of the whole event table would have to include the day; an index on
-- each partition need not.
CREATE FUNCTION make_partition(parent text, day date) RETURNS void
    LANGUAGE plpgsql AS $$
DECLARE
    name text := parent || '_' || to_char(day, 'YYYYMMDD');
BEGIN
    IF to_regclass(name) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
                   name, parent);
    IF parent = 'event' THEN
        EXECUTE format('CREATE UNIQUE INDEX %I ON %I (account_id, number)',
                       name || '_number', name);
    END IF;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   parent, name, day || ' 00:00+00', (day + 1) || ' 00:00+00');
END
$$;

-- Makes the partitions of yesterday, today and the coming days where they are missing.
CREATE FUNCTION make_partitions(parent text, ahead integer) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    FOR distance IN -1..ahead LOOP
        PERFORM make_partition(parent, (tradewind_now() AT TIME ZONE 'UTC')::date + distance);
    END LOOP;
END
$$;

-- Accounts and logins -----------------------------------------------------------------------------

CREATE TABLE account (
    id            uuid PRIMARY KEY,
    email         text NOT NULL CHECK (email = lower(email) AND length(email) <= 254),
    name          text NOT NULL DEFAULT '' CHECK (length(name) <= 200),
    roles         text[] NOT NULL CHECK (roles <@ ARRAY['buyer', 'approver', 'operator']),
    plan          text NOT NULL CHECK (plan IN ('free', 'pro', 'enterprise')),
    -- NULL until the owner sets a password with a password link.
    password_hash text,
    locked_at     timestamptz,
    lock_reason   text CHECK (length(lock_reason) <= 500),
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    -- When the owner dismissed the list of first steps on the overview.
    steps_dismissed_at timestamptz,
    CHECK ((locked_at IS NULL) = (lock_reason IS NULL))
);
CREATE UNIQUE INDEX account_email ON account (email);

CREATE TABLE session (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL REFERENCES account,
    -- The number of the current refresh token: each use makes the next one.
    generation   integer NOT NULL DEFAULT 1 CHECK (generation > 0),
    -- The master secret that its tokens were derived from.
    key_id       text NOT NULL,
    rotated_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    ended_at     timestamptz,
    end_reason   text CHECK (end_reason IN
                     ('logout', 'password_changed', 'account_locked', 'refresh_token_reused',
                      'ended_by_owner')),
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    address      text NOT NULL,
    user_agent   text NOT NULL,
    CHECK ((ended_at IS NULL) = (end_reason IS NULL))
) WITH (fillfactor = 80);
CREATE INDEX session_account ON session (account_id, id);
CREATE INDEX session_expiry ON session (expires_at);

CREATE TABLE api_key (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL REFERENCES account,
    name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
    prefix       text NOT NULL,
    hash         bytea NOT NULL,
    -- The master secret that the hash was made with.
    key_id       text NOT NULL,
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at   timestamptz
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX api_key_hash ON api_key (hash);
CREATE INDEX api_key_account ON api_key (account_id, id);

-- A link with which its holder sets a password, once.
CREATE TABLE password_link (
    hash       bytea PRIMARY KEY,
    -- The master secret that the hash was made with.
    key_id     text NOT NULL,
    account_id uuid NOT NULL REFERENCES account,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    -- The operator who created the link; NULL for the command line.
    created_by uuid
);
CREATE INDEX password_link_account ON password_link (account_id);

-- Failed logins by a keyed hash of the e-mail address, whether or not an account has that address.
-- An attempt counts from its start, so that parallel attempts cannot exceed the limit.
CREATE TABLE login_failure (
    email_hash   bytea PRIMARY KEY,
    failed_at    timestamptz[] NOT NULL DEFAULT '{}',
    tried_at     timestamptz[] NOT NULL DEFAULT '{}',
    locked_until timestamptz
) WITH (fillfactor = 70);

-- Operators' acts that let them, or somebody they chose, act as an account or approve with it. An
-- approval checks the last 24 hours of them. The command line leaves no row, because it has no
-- account. `granted_by` is not a foreign key, so that two operators who change each other's account
-- do not deadlock; accounts are never deleted.
CREATE TABLE account_grant (
    account_id uuid NOT NULL REFERENCES account,
    granted_by uuid NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('role', 'password', 'password_link', 'unlock')),
    granted_at timestamptz NOT NULL
);
CREATE INDEX account_grant_time ON account_grant (granted_at);

CREATE TABLE audit (
    id         uuid PRIMARY KEY,
    at         timestamptz NOT NULL,
    action     text NOT NULL,
    -- The account that acted, with its credential; NULL for the command line and the system.
    actor_id   uuid,
    actor      text NOT NULL,
    credential text,
    -- The client.
    address    text,
    request_id text,
    -- What was acted on.
    account_id uuid,
    subject    text NOT NULL,
    details    jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_account ON audit (account_id, id);
CREATE INDEX audit_action ON audit (action, id);

-- Requests ----------------------------------------------------------------------------------------

-- Rate limits (GCRA), in microseconds: `spent_until` is the theoretical arrival time, `step` the
-- cost of one request. The other columns are the input and the result of the last batch. Unlogged:
-- after a crash every account starts with a full budget.
CREATE UNLOGGED TABLE rate_budget (
    subject     text PRIMARY KEY,
    spent_until bigint NOT NULL,
    step        bigint NOT NULL,
    burst       bigint NOT NULL,
    asked       bigint NOT NULL,
    granted     bigint NOT NULL,
    at          bigint NOT NULL
) WITH (fillfactor = 50);

-- Takes from several budgets at once, as much as each one has. Rows are locked in the order of their
-- subjects, so that two processes never deadlock.
CREATE FUNCTION take_from_budgets(subjects text[], asks bigint[], steps bigint[], bursts bigint[])
    RETURNS TABLE (subject text, granted bigint, debt bigint)
    LANGUAGE sql VOLATILE AS $$
    WITH clock AS (
        SELECT (extract(epoch FROM tradewind_now()) * 1000000)::bigint AS at
    )
    INSERT INTO rate_budget AS b (subject, spent_until, step, burst, asked, granted, at)
    SELECT ask.subject,
           clock.at + least(ask.asked, ask.burst) * ask.step,
           ask.step, ask.burst, ask.asked, least(ask.asked, ask.burst), clock.at
      FROM unnest(subjects, asks, steps, bursts) AS ask (subject, asked, step, burst), clock
     ORDER BY ask.subject
    ON CONFLICT (subject) DO UPDATE
       SET step = excluded.step,
           burst = excluded.burst,
           asked = excluded.asked,
           at = excluded.at,
           granted = greatest(0, least(excluded.asked,
               (excluded.burst * excluded.step - greatest(b.spent_until - excluded.at, 0))
                   / excluded.step)),
           spent_until = greatest(b.spent_until, excluded.at)
               + excluded.step * greatest(0, least(excluded.asked,
                   (excluded.burst * excluded.step - greatest(b.spent_until - excluded.at, 0))
                       / excluded.step))
    RETURNING b.subject, b.granted, greatest(b.spent_until - b.at, 0)
$$;

CREATE TABLE idempotency_key (
    account_id   uuid NOT NULL,
    route        text NOT NULL,
    key          text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    fingerprint  bytea NOT NULL,
    status       smallint NOT NULL,
    headers      json NOT NULL,
    content_type text NOT NULL,
    body         bytea NOT NULL,
    created_at   timestamptz NOT NULL,
    -- The stored response is provisional until then: its request is still in progress.
    pending_until timestamptz,
    PRIMARY KEY (account_id, route, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);

-- Scheduled tasks that one process runs for all: when each is due next.
CREATE TABLE scheduled_task (
    name   text PRIMARY KEY,
    due_at timestamptz NOT NULL
);

-- Marketplaces ------------------------------------------------------------------------------------

CREATE TABLE platform_connection (
    platform           text PRIMARY KEY,
    app_key            text NOT NULL CHECK (length(app_key) BETWEEN 1 AND 200),
    -- Where the credentials come from. An operator's are not replaced by the settings.
    source             text NOT NULL CHECK (source IN ('settings', 'operator')),
    -- A hash of the settings at the time they were copied, to detect that they changed.
    settings_hash      bytea,
    -- An operator disconnected it. The row stays, so that the settings do not reconnect it.
    disconnected       boolean NOT NULL DEFAULT false,
    -- Encrypted, and bound to this row.
    app_secret         bytea NOT NULL,
    access_token       bytea,
    refresh_token      bytea,
    access_expires_at  timestamptz,
    refresh_expires_at timestamptz,
    owner              text,
    -- Rises with every change, so that a process that refreshes notices another one's refresh.
    version            integer NOT NULL DEFAULT 1,
    -- The lease of the process that refreshes the token.
    refreshing_until   timestamptz,
    -- The error of the last refresh, and when the marketplace rejected it for good.
    failure            text,
    rejected_at        timestamptz,
    updated_at         timestamptz NOT NULL,
    CHECK ((access_token IS NULL) = (access_expires_at IS NULL))
);

-- Cached results of product searches. Unlogged: after a crash they are fetched again.
CREATE UNLOGGED TABLE search_cache (
    key        bytea PRIMARY KEY,
    body       bytea NOT NULL,
    fetched_at timestamptz NOT NULL
);
CREATE INDEX search_cache_age ON search_cache (fetched_at);

-- Orders and payments -----------------------------------------------------------------------------

CREATE TABLE purchase_order (
    id               uuid PRIMARY KEY,
    account_id       uuid NOT NULL REFERENCES account,
    platform         text NOT NULL,
    external_id      text CHECK (length(external_id) BETWEEN 1 AND 100),
    items            json NOT NULL,
    address          json NOT NULL,
    remark           text,
    metadata         json NOT NULL,
    -- The price limit: the caller's, else that of the preview, else NULL.
    expected_fen     bigint,
    -- Whether it was previewed before it was accepted. If not, it is previewed before it is created.
    previewed        boolean NOT NULL,

    status           text NOT NULL CHECK (status IN
                         ('creating', 'create_failed', 'pending_payment', 'paid',
                          'partially_shipped', 'shipped', 'received', 'completed', 'cancelled',
                          'closed', 'unknown')),
    payment_status   text NOT NULL CHECK (payment_status IN
                         ('unpaid', 'pending_approval', 'approved', 'rejected', 'processing',
                          'paid', 'failed', 'partially_refunded', 'refunded', 'cancelled')),
    platform_payment_status text NOT NULL CHECK (platform_payment_status IN
                         ('unpaid', 'processing', 'paid', 'partially_paid', 'failed',
                          'partially_refunded', 'refunded', 'closed', 'unknown')),
    platform_status  text,

    goods_fen        bigint,
    freight_fen      bigint,
    discount_fen     bigint,
    total_fen        bigint CHECK (total_fen >= 0),
    paid_fen         bigint NOT NULL DEFAULT 0 CHECK (paid_fen >= 0),
    refunded_fen     bigint NOT NULL DEFAULT 0 CHECK (refunded_fen >= 0),

    -- The orders on the marketplace as of the last sync, and the ids in them that people search for.
    parts            json NOT NULL DEFAULT '[]',
    order_ids        text[] NOT NULL DEFAULT '{}',
    tracking_numbers text[] NOT NULL DEFAULT '{}',
    refunds          json NOT NULL DEFAULT '[]',
    -- The open payment request.
    payment_id       uuid,

    failure          json,
    cancel_requested boolean NOT NULL DEFAULT false,
    dispute          boolean NOT NULL DEFAULT false,
    paid_outside     boolean NOT NULL DEFAULT false,
    close_reason     text,
    pay_before       timestamptz,

    created_at       timestamptz NOT NULL,
    updated_at       timestamptz NOT NULL,
    version          integer NOT NULL DEFAULT 1,

    -- The next job at the marketplace, and when. One process at a time holds the lease.
    work             text NOT NULL CHECK (work IN ('create', 'cancel', 'pay', 'sync', 'none')),
    next_sync_at     timestamptz,
    synced_at        timestamptz,
    sync_failures    integer NOT NULL DEFAULT 0,
    -- The intent to create, written before the call; and when cancellation was requested.
    create_sent_at   timestamptz,
    cancel_sent_at   timestamptz,
    lease_until      timestamptz NOT NULL DEFAULT 'epoch',
    lease            uuid,
    -- Rises with every notice, so that a notice that arrives during a sync is not lost.
    hints            integer NOT NULL DEFAULT 0,

    CONSTRAINT amounts_add_up CHECK (
        num_nulls(goods_fen, freight_fen, discount_fen, total_fen) IN (0, 4)
        AND total_fen = goods_fen + freight_fen - discount_fen),
    CONSTRAINT refunds_within_what_was_paid CHECK (refunded_fen <= paid_fen),
    CONSTRAINT payment_status_as_the_money CHECK (
        CASE payment_status
            WHEN 'refunded' THEN refunded_fen = paid_fen
            WHEN 'partially_refunded' THEN refunded_fen > 0 AND refunded_fen < paid_fen
            ELSE refunded_fen = 0
        END),
    CONSTRAINT an_open_payment_is_named CHECK (
        (payment_id IS NOT NULL)
        = (payment_status IN ('pending_approval', 'approved', 'processing'))),
    CONSTRAINT an_order_there_has_an_id_there CHECK (
        status IN ('creating', 'create_failed', 'cancelled') OR order_ids <> '{}'),
    CHECK ((next_sync_at IS NULL) = (work = 'none'))
) WITH (fillfactor = 80);
CREATE INDEX purchase_order_created ON purchase_order (account_id, id);
CREATE INDEX purchase_order_status ON purchase_order (account_id, status, id);
CREATE INDEX purchase_order_updated ON purchase_order (account_id, updated_at, id);
CREATE INDEX purchase_order_updated_all ON purchase_order (updated_at, id);
CREATE INDEX purchase_order_due ON purchase_order (platform, work, next_sync_at)
    WHERE work <> 'none';
CREATE UNIQUE INDEX purchase_order_external ON purchase_order (account_id, external_id)
    WHERE external_id IS NOT NULL;
CREATE INDEX purchase_order_tracking ON purchase_order USING gin (tracking_numbers);

-- The owner of each order on a marketplace: exactly one order of ours.
CREATE TABLE platform_order (
    platform          text NOT NULL,
    order_id          text NOT NULL,
    purchase_order_id uuid NOT NULL REFERENCES purchase_order,
    PRIMARY KEY (platform, order_id)
);
CREATE INDEX platform_order_ours ON platform_order (purchase_order_id);

-- The timeline: one row for each version of an order.
CREATE TABLE order_change (
    purchase_order_id uuid NOT NULL REFERENCES purchase_order,
    version           integer NOT NULL,
    account_id        uuid NOT NULL,
    at                timestamptz NOT NULL,
    cause             text NOT NULL,
    -- The person who caused it; NULL for the marketplace and for Tradewind itself.
    actor_id          uuid,
    actor             text,
    changes           json NOT NULL,
    events            uuid[] NOT NULL,
    PRIMARY KEY (purchase_order_id, version)
);

CREATE TABLE payment_request (
    id                uuid PRIMARY KEY,
    purchase_order_id uuid NOT NULL REFERENCES purchase_order,
    account_id        uuid NOT NULL REFERENCES account,
    status            text NOT NULL CHECK (status IN
                          ('pending_approval', 'withdrawn', 'approved', 'rejected', 'superseded',
                           'processing', 'paid', 'failed')),
    amount_fen        bigint NOT NULL CHECK (amount_fen >= 0),
    -- The part of the amount for each order on the marketplace.
    sums              json NOT NULL,
    mode              text NOT NULL CHECK (mode IN ('auto', 'link')),
    requested_by      uuid NOT NULL,
    requested_email   text NOT NULL,
    requested_at      timestamptz NOT NULL,
    decided_by        uuid,
    decided_email     text,
    decided_at        timestamptz,
    reason            text,
    pay_url           text,
    -- The intent to debit, written before the call.
    sent_at           timestamptz,
    failure           json,
    updated_at        timestamptz NOT NULL,
    -- Whoever requested a payment may withdraw it, and may not approve or reject it.
    CONSTRAINT four_eyes CHECK (status = 'withdrawn' OR decided_by <> requested_by),
    CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
    CONSTRAINT only_what_was_approved_is_sent CHECK (sent_at IS NULL OR decided_at IS NOT NULL)
);
CREATE UNIQUE INDEX payment_request_open ON payment_request (purchase_order_id)
    WHERE status IN ('pending_approval', 'approved', 'processing');
CREATE INDEX payment_request_order ON payment_request (purchase_order_id, id);
CREATE INDEX payment_request_status ON payment_request (status, id);
CREATE INDEX payment_request_account ON payment_request (account_id, status, id);

-- How far the scheduled sync by modification time has come on each marketplace.
CREATE TABLE platform_sync (
    platform     text PRIMARY KEY,
    synced_until timestamptz NOT NULL
);

-- The event journal -------------------------------------------------------------------------------

-- Every event of an account has a number that rises by exactly one.
CREATE TABLE event (
    id                uuid NOT NULL,
    account_id        uuid NOT NULL,
    purchase_order_id uuid NOT NULL,
    type              text NOT NULL CHECK (type IN ('order.updated', 'payment.updated')),
    -- The exact bytes that are signed and sent.
    body              bytea NOT NULL,
    created_at        timestamptz NOT NULL,
    number            bigint NOT NULL,
    PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);
CREATE INDEX event_order ON event (purchase_order_id, number);
CREATE INDEX event_by_time ON event (account_id, created_at, id);

-- The last number of each account. A transaction that appends events updates this row as its last
-- statement and holds the lock until it commits, so numbers become visible in order. The row is
-- updated often, so its pages are kept mostly empty for HOT updates.
CREATE TABLE journal_head (
    account_id    uuid PRIMARY KEY,
    last_number   bigint NOT NULL,
    -- The event with that number. A cursor names its event too: after a failover or a restore that
    -- lost events, the same number may belong to another event.
    last_event_id uuid NOT NULL
) WITH (fillfactor = 10);

-- The last number of each account that was dropped because it was past the retention.
CREATE TABLE journal_retention (
    account_id      uuid PRIMARY KEY,
    dropped_through bigint NOT NULL
);

-- Webhooks and deliveries -------------------------------------------------------------------------

CREATE TABLE webhook_subscription (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL REFERENCES account,
    url         text NOT NULL CHECK (length(url) <= 2048),
    events      text[] NOT NULL CHECK (events <> '{}'
                    AND events <@ ARRAY['order.updated', 'payment.updated']),
    is_active   boolean NOT NULL,
    -- Rises when it is switched off: deliveries queued under an older generation are cancelled.
    generation  integer NOT NULL DEFAULT 1,
    -- Encrypted.
    secret      bytea NOT NULL,
    secret_rotated_at timestamptz,
    description text NOT NULL DEFAULT '' CHECK (length(description) <= 500),
    -- Whether missed events are replayed automatically once the endpoint answers again.
    catch_up    boolean NOT NULL DEFAULT false,
    disabled_reason text CHECK (disabled_reason IN ('failing')),
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    CHECK (NOT (is_active AND disabled_reason IS NOT NULL))
);
CREATE INDEX webhook_subscription_account ON webhook_subscription (account_id, id);

-- Deliveries that are not finished. A row is deleted when its delivery is finished.
CREATE TABLE delivery_queue (
    id                uuid PRIMARY KEY DEFAULT tradewind_uuid7(),
    account_id        uuid NOT NULL,
    subscription_id   uuid NOT NULL,
    generation        integer NOT NULL,
    event_id          uuid NOT NULL,
    -- The time of the event selects its partition.
    event_at          timestamptz NOT NULL,
    -- The event's type and order, so that an attempt is logged without reading the event.
    event             text NOT NULL CHECK (event IN ('order.updated', 'payment.updated')),
    purchase_order_id uuid NOT NULL,
    attempt           smallint NOT NULL DEFAULT 1 CHECK (attempt BETWEEN 1 AND 3),
    trigger           text NOT NULL DEFAULT 'event'
                          CHECK (trigger IN ('event', 'redeliver', 'recover')),
    replay_id         uuid,
    due_at            timestamptz NOT NULL,
    lease_until       timestamptz NOT NULL DEFAULT 'epoch',
    -- The id of the current attempt, made by its claim. It fences everything that ends the attempt.
    delivery_id       uuid,
    -- How many leases expired without a report.
    lost              smallint NOT NULL DEFAULT 0,
    -- How often it was parked because of that.
    parked            smallint NOT NULL DEFAULT 0
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1);
CREATE INDEX delivery_queue_due ON delivery_queue (subscription_id, due_at, id);
-- The subscriptions with something due, when most rows only wait for a retry. A claim does not
-- touch it.
CREATE INDEX delivery_queue_soonest ON delivery_queue (due_at);
CREATE INDEX delivery_queue_lost ON delivery_queue (lost) WHERE lost >= 5;
CREATE INDEX delivery_queue_replay ON delivery_queue (replay_id) WHERE replay_id IS NOT NULL;

-- The queue as people read it. `cancel_reason` says why a delivery will not be sent, by the rules
-- of `delivery/retry_policy.py` that concern the subscription; NULL if it will be sent. A row under
-- a lease may be on its way already, so it stays pending whatever happens to its subscription.
CREATE VIEW queued_delivery AS
SELECT *, under_way OR cancel_reason IS NULL AS is_pending
  FROM (SELECT q.id, q.account_id, q.subscription_id, q.event_id, q.event_at, q.event,
               q.purchase_order_id, q.attempt, q.trigger, q.due_at, q.lease_until, q.lost, q.parked,
               q.lease_until > tradewind_now() AS under_way,
               CASE WHEN s.id IS NULL THEN 'subscription_deleted'
                    WHEN NOT s.is_active OR s.generation <> q.generation
                    THEN 'subscription_inactive'
                    WHEN q.event <> ALL (s.events) THEN 'event_no_longer_wanted'
               END AS cancel_reason
          FROM delivery_queue AS q
          LEFT JOIN webhook_subscription AS s ON s.id = q.subscription_id) AS queued;

-- Subscriptions whose queue a worker has to clear in batches, because they were switched off, were
-- deleted, or list fewer event types than before.
CREATE TABLE cancellation (
    subscription_id uuid PRIMARY KEY,
    -- The last row of the queue that this pass has processed.
    after_due_at    timestamptz NOT NULL DEFAULT 'epoch',
    after_id        uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    -- Whether this pass skipped a delivery because it was being sent.
    met_in_flight   boolean NOT NULL DEFAULT false,
    next_at         timestamptz NOT NULL
);

-- The delivery log: every attempt, append only, except that an attempt of unknown outcome is
-- corrected when its worker reports late. Its id is the X-Service-Delivery of the POST; the id
-- contains the time, so an attempt is found by its id within the hour.
CREATE TABLE delivery_attempt (
    id               uuid NOT NULL,
    account_id       uuid NOT NULL,
    subscription_id  uuid NOT NULL,
    event_id         uuid NOT NULL,
    event_at         timestamptz,
    event            text NOT NULL,
    purchase_order_id uuid,
    attempt          smallint NOT NULL CHECK (attempt BETWEEN 1 AND 3),
    trigger          text NOT NULL CHECK (trigger IN ('event', 'redeliver', 'recover', 'test')),
    outcome          text NOT NULL CHECK (outcome IN
                         ('delivered', 'http_error', 'timeout', 'dns_error', 'connect_failed',
                          'tls_error', 'blocked_address', 'connection_closed', 'invalid_response',
                          'unknown', 'cancelled')),
    final            boolean NOT NULL,
    -- It was reported after its lease had expired, and decided nothing.
    late             boolean NOT NULL DEFAULT false,
    status_code      smallint,
    error_code       text,
    error_message    text,
    started_at       timestamptz NOT NULL,
    duration_ms      integer,
    next_attempt_at  timestamptz,
    -- The parts of the request that cannot be derived from the other columns.
    url              text,
    sent_at          bigint,
    signature        text,
    response_head    bytea,
    response_body    bytea
) PARTITION BY RANGE (started_at);
CREATE INDEX delivery_attempt_log ON delivery_attempt (subscription_id, started_at DESC, id);
CREATE INDEX delivery_attempt_event ON delivery_attempt (subscription_id, event_id);

-- The health of each endpoint: one narrow row, written at most once per flush.
CREATE TABLE subscription_health (
    subscription_id uuid PRIMARY KEY,
    -- The start of the current run of failures; NULL while deliveries succeed.
    failing_since   timestamptz,
    -- How many deliveries have failed for good since then.
    failed          integer NOT NULL DEFAULT 0,
    last_success_at timestamptz,
    last_failure_at timestamptz,
    concurrency     integer NOT NULL DEFAULT 1,
    updated_at      timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Attempts by hour: how many were delivered and failed, their latencies and their outcomes. The n-th
-- bucket counts attempts of less than 2^n milliseconds. Outcomes are in the order of `COUNTED` in
-- delivery/model.py; outcomes that were added later are missing at the end.
CREATE TABLE subscription_hour (
    subscription_id uuid NOT NULL,
    hour            timestamptz NOT NULL,
    delivered       bigint NOT NULL DEFAULT 0,
    failed          bigint NOT NULL DEFAULT 0,
    buckets         bigint[] NOT NULL,
    outcomes        bigint[] NOT NULL DEFAULT '{}',
    PRIMARY KEY (subscription_id, hour)
) WITH (fillfactor = 50);
CREATE INDEX subscription_hour_age ON subscription_hour (hour);

-- Replays of missed events.
CREATE TABLE replay (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    subscription_id uuid NOT NULL,
    status          text NOT NULL CHECK (status IN ('running', 'done', 'cancelled')),
    trigger         text NOT NULL CHECK (trigger IN ('request', 'catch_up')),
    since           timestamptz NOT NULL,
    until           timestamptz NOT NULL,
    -- For an automatic replay: the start of the latest failures that it covers. It is extended when
    -- the endpoint fails and answers again before the replay is done.
    latest_since    timestamptz,
    purchase_order_id uuid,
    everything      boolean NOT NULL,
    total           bigint NOT NULL,
    -- False if there are more events than were counted.
    total_is_exact  boolean NOT NULL DEFAULT true,
    queued          bigint NOT NULL DEFAULT 0,
    delivered       bigint NOT NULL DEFAULT 0,
    failed          bigint NOT NULL DEFAULT 0,
    -- The last event that was processed.
    at_time         timestamptz,
    at_event        uuid,
    next_at         timestamptz NOT NULL,
    lease_until     timestamptz NOT NULL DEFAULT 'epoch',
    created_at      timestamptz NOT NULL,
    ended_at        timestamptz
);
CREATE INDEX replay_subscription ON replay (subscription_id, id);
CREATE INDEX replay_running ON replay (next_at) WHERE status = 'running';
-- One requested replay and one automatic replay at a time; the automatic one waits for the other.
CREATE UNIQUE INDEX replay_single ON replay (subscription_id, trigger)
    WHERE status = 'running';

SELECT make_partitions('event', 14);
SELECT make_partitions('delivery_attempt', 14);
