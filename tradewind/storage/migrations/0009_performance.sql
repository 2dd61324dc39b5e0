-- What the workers and the database did lately, for the operators' page about performance.

-- What all workers did in each ten seconds.
CREATE TABLE delivery_sample (
    begins      timestamptz PRIMARY KEY,
    attempts    bigint NOT NULL,
    delivered   bigint NOT NULL,
    -- Attempts after the first one of a delivery.
    retries     bigint NOT NULL,
    -- The CPU of the worker processes, whatever they did.
    cpu_seconds double precision NOT NULL,
    -- Attempts by outcome, in the order of `COUNTED` in delivery/model.py.
    outcomes    integer[] NOT NULL,
    -- Latencies: the n-th number counts those up to the n-th of `LATENCY_BOUNDS` in
    -- delivery/metrics.py, the last one those beyond. Whoever changes the bounds deletes the rows.
    waits       integer[] NOT NULL,
    latencies   integer[] NOT NULL,
    durations   integer[] NOT NULL
);

-- The worker processes. One that stops deletes its row; of one that died, the row stays for a day.
CREATE TABLE worker_process (
    id                  uuid PRIMARY KEY,
    host                text NOT NULL,
    pid                 integer NOT NULL,
    started_at          timestamptz NOT NULL,
    reported_at         timestamptz NOT NULL,
    -- Since the report before: CPU seconds in a second, and attempts in a second.
    cpu_share           double precision NOT NULL,
    attempts_per_second double precision NOT NULL
) WITH (fillfactor = 50);

-- Counters of the database, once a minute. They only rise, until somebody resets the statistics.
CREATE TABLE database_sample (
    taken_at          timestamptz PRIMARY KEY,
    transactions      bigint NOT NULL,
    statement_seconds double precision NOT NULL,
    -- Of the whole server.
    wal_bytes         bigint NOT NULL
);
