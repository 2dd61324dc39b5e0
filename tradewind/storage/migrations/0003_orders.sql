-- Orders, requests to pay them, the journal of events, and what the journal feeds: subscriptions
-- and the queue of deliveries.

CREATE TABLE purchase_order (
    id               uuid PRIMARY KEY,
    account_id       uuid NOT NULL REFERENCES account,
    platform         text NOT NULL,
    external_id      text CHECK (length(external_id) BETWEEN 1 AND 100),
    items            json NOT NULL,
    address          json NOT NULL,
    remark           text,
    metadata         json NOT NULL,
    -- What it may cost: as the caller said, else as the preview said; NULL when neither did.
    expected_fen     bigint,
    -- Whether a preview was seen before it was accepted; if not, one is made before it is placed.
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

    -- The orders on the platform as they were last heard of, and what is looked for in them.
    parts            json NOT NULL DEFAULT '[]',
    order_ids        text[] NOT NULL DEFAULT '{}',
    tracking_numbers text[] NOT NULL DEFAULT '{}',
    refunds          json NOT NULL DEFAULT '[]',
    -- The request to pay it that is open.
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

    -- What is to be done at the platform next, and when. One process at a time has the lease.
    work             text NOT NULL CHECK (work IN ('create', 'cancel', 'pay', 'follow', 'none')),
    next_sync_at     timestamptz,
    synced_at        timestamptz,
    sync_failures    integer NOT NULL DEFAULT 0,
    -- The intent to create it there, written before the call; and when it was asked to cancel.
    create_sent_at   timestamptz,
    cancel_sent_at   timestamptz,
    lease_until      timestamptz NOT NULL DEFAULT 'epoch',
    lease            uuid,
    -- Rises with every hint to look now, so that one that comes during a look is not lost.
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

-- Until when a stored answer is not the last word: its request is still being worked on.
ALTER TABLE idempotency_key ADD COLUMN pending_until timestamptz;

-- Whose an order on a platform is: one of ours, and only one.
CREATE TABLE platform_order (
    platform          text NOT NULL,
    order_id          text NOT NULL,
    purchase_order_id uuid NOT NULL REFERENCES purchase_order,
    PRIMARY KEY (platform, order_id)
);
CREATE INDEX platform_order_ours ON platform_order (purchase_order_id);

-- Every change of an order, one row a version: what it was, what it became, and why.
CREATE TABLE order_change (
    purchase_order_id uuid NOT NULL REFERENCES purchase_order,
    version           integer NOT NULL,
    account_id        uuid NOT NULL,
    at                timestamptz NOT NULL,
    cause             text NOT NULL,
    -- Who asked for it; NULL when the platform did, or we ourselves.
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
    -- Of that, for each order on the platform.
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
    CONSTRAINT four_eyes CHECK (decided_by <> requested_by),
    CHECK ((decided_by IS NULL) = (decided_at IS NULL)),
    CONSTRAINT only_what_was_approved_is_sent CHECK (sent_at IS NULL OR decided_at IS NOT NULL)
);
CREATE UNIQUE INDEX payment_request_open ON payment_request (purchase_order_id)
    WHERE status IN ('pending_approval', 'approved', 'processing');
CREATE INDEX payment_request_order ON payment_request (purchase_order_id, id);
CREATE INDEX payment_request_status ON payment_request (status, id);

-- How far the sweep by modification time has come on each platform.
CREATE TABLE platform_sweep (
    platform    text PRIMARY KEY,
    swept_until timestamptz NOT NULL
);

-- The journal. `xid` is the transaction that wrote an event: the journal is read in that order,
-- and only below what every running transaction is above, so that none is ever skipped.
CREATE TABLE event (
    id                uuid NOT NULL,
    account_id        uuid NOT NULL,
    purchase_order_id uuid NOT NULL,
    type              text NOT NULL CHECK (type IN ('order.updated', 'payment.updated')),
    -- The exact bytes that are sent and signed.
    body              bytea NOT NULL,
    created_at        timestamptz NOT NULL,
    xid               xid8 NOT NULL DEFAULT pg_current_xact_id(),
    PRIMARY KEY (id, created_at)
) PARTITION BY RANGE (created_at);
CREATE INDEX event_journal ON event (account_id, xid, id);
CREATE INDEX event_order ON event (purchase_order_id, xid, id);

-- Makes the partitions of the coming days, one a day, where they are missing. Attaching one does
-- not stop those who write to the others.
CREATE FUNCTION make_partitions(parent text, ahead integer) RETURNS void
    LANGUAGE plpgsql AS $$
DECLARE
    day  date;
    name text;
BEGIN
    FOR distance IN -1..ahead LOOP
        day := (tradewind_now() AT TIME ZONE 'UTC')::date + distance;
        name := parent || '_' || to_char(day, 'YYYYMMDD');
        IF to_regclass(name) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
                           name, parent);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                           parent, name, day || ' 00:00+00', (day + 1) || ' 00:00+00');
        END IF;
    END LOOP;
END
$$;

SELECT make_partitions('event', 14);

-- Where events go. A row keeps its secret sealed.
CREATE TABLE webhook_subscription (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL REFERENCES account,
    url         text NOT NULL CHECK (length(url) <= 2048),
    events      text[] NOT NULL CHECK (events <> '{}'
                    AND events <@ ARRAY['order.updated', 'payment.updated']),
    is_active   boolean NOT NULL,
    -- Rises when it is switched off: what was queued under an older one is cancelled.
    generation  integer NOT NULL DEFAULT 1,
    secret      bytea NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL
);
CREATE INDEX webhook_subscription_account ON webhook_subscription (account_id, id);

-- Deliveries that are not over yet. A row is deleted when its delivery is.
CREATE TABLE delivery_queue (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    subscription_id uuid NOT NULL,
    generation      integer NOT NULL,
    event_id        uuid NOT NULL,
    -- The day of the event is its partition.
    event_at        timestamptz NOT NULL,
    attempt         smallint NOT NULL DEFAULT 1 CHECK (attempt BETWEEN 1 AND 3),
    due_at          timestamptz NOT NULL,
    lease_until     timestamptz NOT NULL DEFAULT 'epoch',
    claim           integer NOT NULL DEFAULT 0,
    delivery_id     uuid
) WITH (fillfactor = 50);
CREATE INDEX delivery_queue_due ON delivery_queue (subscription_id, due_at, id);
