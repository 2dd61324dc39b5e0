-- Accounts, sessions, API keys, the audit log, rate budgets and idempotency keys.

-- The one clock of every query. Test databases replace it by one that can be moved.
CREATE FUNCTION tradewind_now() RETURNS timestamptz
    LANGUAGE sql STABLE PARALLEL SAFE
    AS 'SELECT statement_timestamp()';

CREATE TABLE account (
    id            uuid PRIMARY KEY,
    email         text NOT NULL CHECK (email = lower(email) AND length(email) <= 254),
    name          text NOT NULL DEFAULT '' CHECK (length(name) <= 200),
    roles         text[] NOT NULL CHECK (roles <@ ARRAY['buyer', 'approver', 'operator']),
    plan          text NOT NULL CHECK (plan IN ('free', 'pro', 'enterprise')),
    -- NULL until the owner chose one by a password link.
    password_hash text,
    locked_at     timestamptz,
    lock_reason   text CHECK (length(lock_reason) <= 500),
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    CHECK ((locked_at IS NULL) = (lock_reason IS NULL))
);
CREATE UNIQUE INDEX account_email ON account (email);

CREATE TABLE session (
    id           uuid PRIMARY KEY,
    account_id   uuid NOT NULL REFERENCES account,
    -- Which refresh token is the current one: each use makes the next.
    generation   integer NOT NULL DEFAULT 1 CHECK (generation > 0),
    -- Which master secret its tokens were made with.
    key_id       text NOT NULL,
    rotated_at   timestamptz NOT NULL,
    expires_at   timestamptz NOT NULL,
    ended_at     timestamptz,
    end_reason   text CHECK (end_reason IN
                     ('logout', 'password_changed', 'account_locked', 'refresh_token_reused')),
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
    -- Which master secret the hash was made with.
    key_id       text NOT NULL,
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,
    revoked_at   timestamptz
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX api_key_hash ON api_key (hash);
CREATE INDEX api_key_account ON api_key (account_id, id);

-- A link that lets its holder choose a password, once.
CREATE TABLE password_link (
    hash       bytea PRIMARY KEY,
    -- Which master secret the hash was made with.
    key_id     text NOT NULL,
    account_id uuid NOT NULL REFERENCES account,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX password_link_account ON password_link (account_id);

-- Failed logins by keyed hash of the e-mail, whether or not an account has it. An attempt counts
-- while it is being tried, so that however many come at once, no more than the limit are.
CREATE TABLE login_failure (
    email_hash   bytea PRIMARY KEY,
    failed_at    timestamptz[] NOT NULL DEFAULT '{}',
    tried_at     timestamptz[] NOT NULL DEFAULT '{}',
    locked_until timestamptz
) WITH (fillfactor = 70);

-- What is left of each rate budget (GCRA), counted in microseconds: `spent_until` is the
-- theoretical arrival time, `step` the price of one request. The other columns are the terms and
-- the answer of the last batch. Unlogged: after a crash everybody starts with a full budget.
CREATE UNLOGGED TABLE rate_budget (
    subject     text PRIMARY KEY,
    spent_until bigint NOT NULL,
    step        bigint NOT NULL,
    burst       bigint NOT NULL,
    asked       bigint NOT NULL,
    granted     bigint NOT NULL,
    at          bigint NOT NULL
) WITH (fillfactor = 50);

-- Takes from several budgets at once, as far as each goes. Rows are locked in the order of their
-- subjects, so that two processes never wait for each other in a circle.
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

CREATE TABLE audit (
    id         uuid PRIMARY KEY,
    at         timestamptz NOT NULL,
    action     text NOT NULL,
    -- Who: an account with its credential, or NULL for the command line and the system.
    actor_id   uuid,
    actor      text NOT NULL,
    credential text,
    -- From where.
    address    text,
    request_id text,
    -- To whom, or what.
    account_id uuid,
    subject    text NOT NULL,
    details    jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_account ON audit (account_id, id);
CREATE INDEX audit_action ON audit (action, id);

CREATE TABLE idempotency_key (
    account_id  uuid NOT NULL,
    route       text NOT NULL,
    key         text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    fingerprint bytea NOT NULL,
    status      smallint NOT NULL,
    headers     json NOT NULL,
    content_type text NOT NULL,
    body        bytea NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (account_id, route, key)
);
CREATE INDEX idempotency_key_age ON idempotency_key (created_at);

-- Chores that one node does for all: when each is due next.
CREATE TABLE chore (
    name   text PRIMARY KEY,
    due_at timestamptz NOT NULL
);
