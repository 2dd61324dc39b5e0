-- Every event of an account has a number that rises by exactly one. It takes the place of the
-- transaction id, which belongs to one server and is given out again after a failover.

-- How far each account's numbers have come. Whoever appends events updates this row as the last act
-- of the transaction, and holds its lock until the commit: numbers become visible in their order.
-- The row is updated all the time, so pages are left mostly empty for new versions (HOT).
CREATE TABLE journal_head (
    account_id    uuid PRIMARY KEY,
    last_number   bigint NOT NULL,
    -- The event with that number. A cursor names its event too, so that a number which was given out
    -- again, because a failover or an older backup lost the first, is not taken for the same.
    last_event_id uuid NOT NULL
) WITH (fillfactor = 10);

-- Up to which number an account's events were dropped, because they were older than what is kept.
CREATE TABLE journal_retention (
    account_id      uuid PRIMARY KEY,
    dropped_through bigint NOT NULL
);

ALTER TABLE event ADD COLUMN number bigint;
UPDATE event
   SET number = numbered.number
  FROM (SELECT id, created_at,
               row_number() OVER (PARTITION BY account_id ORDER BY xid, id) AS number
          FROM event) AS numbered
 WHERE event.id = numbered.id AND event.created_at = numbered.created_at;
INSERT INTO journal_head (account_id, last_number, last_event_id)
SELECT DISTINCT ON (account_id) account_id, number, id
  FROM event
 ORDER BY account_id, number DESC;
ALTER TABLE event ALTER COLUMN number SET NOT NULL;
ALTER TABLE event DROP COLUMN xid;  -- and with it both indexes that held it
CREATE INDEX event_order ON event (purchase_order_id, number);

-- Makes the partition of one day where it is missing. Attaching it does not stop those who write to
-- the others. A unique index of the whole table would have to hold the day as well; one on each
-- partition need not.
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

CREATE OR REPLACE FUNCTION make_partitions(parent text, ahead integer) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    FOR distance IN -1..ahead LOOP
        PERFORM make_partition(parent, (tradewind_now() AT TIME ZONE 'UTC')::date + distance);
    END LOOP;
END
$$;

DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT child.relname
                  FROM pg_inherits
                  JOIN pg_class AS child ON child.oid = inhrelid
                 WHERE inhparent = 'event'::regclass
    LOOP
        EXECUTE format('CREATE UNIQUE INDEX %I ON %I (account_id, number)',
                       name || '_number', name);
    END LOOP;
END
$$;
