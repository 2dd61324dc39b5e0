-- Webhooks: what subscriptions know of themselves, the log of attempts, their health, and jobs
-- that deliver what was missed.

ALTER TABLE webhook_subscription
    ADD COLUMN description text NOT NULL DEFAULT '' CHECK (length(description) <= 500),
    -- Whether what was missed is delivered by itself once the receiver answers again.
    ADD COLUMN catch_up boolean NOT NULL DEFAULT false,
    ADD COLUMN disabled_reason text CHECK (disabled_reason IN ('failing')),
    ADD COLUMN secret_rotated_at timestamptz,
    ADD CHECK (NOT (is_active AND disabled_reason IS NOT NULL));

-- A fresh id whose order is that of time, to the millisecond (UUID version 7).
CREATE FUNCTION tradewind_uuid7() RETURNS uuid
    LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    SELECT encode(
               set_byte(
                   overlay(uuid_send(gen_random_uuid())
                           PLACING substring(int8send(
                               (extract(epoch FROM tradewind_now()) * 1000)::bigint) FROM 3)
                           FROM 1 FOR 6),
                   6, 112 + (random() * 15)::integer),
               'hex')::uuid
$$;

ALTER TABLE delivery_queue
    ADD COLUMN trigger text NOT NULL DEFAULT 'event'
        CHECK (trigger IN ('event', 'redeliver', 'recover')),
    ADD COLUMN job_id uuid,
    -- What the event is, and of which order, so that an attempt is logged without looking it up.
    ADD COLUMN event text NOT NULL CHECK (event IN ('order.updated', 'payment.updated')),
    ADD COLUMN purchase_order_id uuid NOT NULL,
    -- How often it was claimed by somebody who never told what became of it.
    ADD COLUMN lost smallint NOT NULL DEFAULT 0,
    -- How often it was put aside for that.
    ADD COLUMN parked smallint NOT NULL DEFAULT 0,
    ALTER COLUMN id SET DEFAULT tradewind_uuid7(),
    SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
         autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1);
-- Who has something due, where most only wait for a retry. A claim does not touch it.
CREATE INDEX delivery_queue_soonest ON delivery_queue (due_at);
CREATE INDEX delivery_queue_lost ON delivery_queue (lost) WHERE lost >= 5;
CREATE INDEX delivery_queue_job ON delivery_queue (job_id) WHERE job_id IS NOT NULL;

-- Every attempt, appended only, but for what was unknown and is told of late. Its id is the
-- X-Service-Delivery that the receiver saw; it tells the time, so that an attempt is found by id
-- within its day.
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
                          'tls_error', 'blocked_address', 'invalid_response', 'unknown',
                          'cancelled')),
    final            boolean NOT NULL,
    -- Its claim was lost, and it was told of all the same: it decided nothing.
    late             boolean NOT NULL DEFAULT false,
    status_code      smallint,
    error_code       text,
    error_message    text,
    started_at       timestamptz NOT NULL,
    duration_ms      integer,
    next_attempt_at  timestamptz,
    -- What was sent, as far as it cannot be told from the rest.
    url              text,
    sent_at          bigint,
    signature        text,
    response_head    bytea,
    response_body    bytea
) PARTITION BY RANGE (started_at);
CREATE INDEX delivery_attempt_log ON delivery_attempt (subscription_id, started_at DESC, id);
CREATE INDEX delivery_attempt_event ON delivery_attempt (subscription_id, event_id);
SELECT make_partitions('delivery_attempt', 14);

-- How a receiver does: one narrow row each, written at most once a flush.
CREATE TABLE subscription_health (
    subscription_id uuid PRIMARY KEY,
    -- Since when nothing was delivered; NULL while something is.
    failing_since   timestamptz,
    -- How many deliveries have failed for good since then.
    failed          integer NOT NULL DEFAULT 0,
    last_success_at timestamptz,
    last_failure_at timestamptz,
    concurrency     integer NOT NULL DEFAULT 1,
    updated_at      timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Attempts by hour: how many were delivered, how many failed, how long they took, and how they
-- ended. The n-th bucket counts those of less than 2^n milliseconds; outcomes are in the order of
-- `COUNTED` in delivery/model.py, and what was not counted yet is missing at the end.
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

-- Jobs that deliver again what a subscription missed.
CREATE TABLE recover_job (
    id              uuid PRIMARY KEY,
    account_id      uuid NOT NULL,
    subscription_id uuid NOT NULL,
    status          text NOT NULL CHECK (status IN ('running', 'done', 'cancelled')),
    trigger         text NOT NULL CHECK (trigger IN ('request', 'catch_up')),
    since           timestamptz NOT NULL,
    until           timestamptz NOT NULL,
    -- Of one that began by itself: where the latest failures begin that it makes good. It is
    -- extended when a receiver fails and answers again before it is over.
    latest_since    timestamptz,
    purchase_order_id uuid,
    everything      boolean NOT NULL,
    total           bigint NOT NULL,
    queued          bigint NOT NULL DEFAULT 0,
    delivered       bigint NOT NULL DEFAULT 0,
    failed          bigint NOT NULL DEFAULT 0,
    -- How far it has come: the last event that it looked at.
    at_time         timestamptz,
    at_event        uuid,
    next_at         timestamptz NOT NULL,
    lease_until     timestamptz NOT NULL DEFAULT 'epoch',
    created_at      timestamptz NOT NULL,
    ended_at        timestamptz
);
CREATE INDEX recover_job_subscription ON recover_job (subscription_id, id);
CREATE INDEX recover_job_running ON recover_job (next_at) WHERE status = 'running';
-- One that was asked for, and one that began by itself and waits for the other's end.
CREATE UNIQUE INDEX recover_job_one ON recover_job (subscription_id, trigger)
    WHERE status = 'running';
CREATE INDEX event_by_time ON event (account_id, created_at, id);
