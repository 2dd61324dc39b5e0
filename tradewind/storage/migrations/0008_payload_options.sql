-- What a subscription may add to its requests, and which events it leaves out.

ALTER TABLE webhook_subscription
    -- The names of its own headers, in the order in which they are sent.
    ADD COLUMN header_names text[] NOT NULL DEFAULT '{}' CHECK (cardinality(header_names) <= 10),
    -- Their values, encrypted: many are tokens.
    ADD COLUMN headers bytea,
    -- Whether the headers of Standard Webhooks are sent beside the contract's.
    ADD COLUMN standard_webhooks boolean NOT NULL DEFAULT false,
    -- Which orders it is about: {"platforms": […], "statuses": […]}; NULL: all.
    ADD COLUMN filter jsonb CHECK (jsonb_typeof(filter) = 'object' AND filter <> '{}'),
    ADD CHECK ((headers IS NULL) = (header_names = '{}'));

-- The headers of the request that only this subscription had, one per line, values masked.
ALTER TABLE delivery_attempt ADD COLUMN more_headers text;

-- Whether a filter accepts an event, by its body. Without a filter, do not call it: it reads JSON.
CREATE FUNCTION filter_accepts(filter jsonb, body bytea) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
    purchase_order jsonb := convert_from(body, 'UTF8')::jsonb #> '{data,order}';
BEGIN
    RETURN coalesce(filter -> 'platforms' ? (purchase_order ->> 'platform'), true)
       AND coalesce(filter -> 'statuses' ? (purchase_order ->> 'status'), true);
END $$;

-- The same for an event of the journal; NULL if it is no longer kept. A function, so that the
-- queries of the view below are not planned for every partition of the journal.
CREATE FUNCTION filter_accepts_event(filter jsonb, event_id uuid, event_at timestamptz)
    RETURNS boolean LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT filter_accepts(filter, e.body)
              FROM event AS e
             WHERE e.id = event_id AND e.created_at = event_at);
END $$;

CREATE OR REPLACE VIEW queued_delivery AS
SELECT *, under_way OR cancel_reason IS NULL AS is_pending
  FROM (SELECT q.id, q.account_id, q.subscription_id, q.event_id, q.event_at, q.event,
               q.purchase_order_id, q.attempt, q.trigger, q.due_at, q.lease_until, q.lost, q.parked,
               q.lease_until > tradewind_now() AS under_way,
               CASE WHEN s.id IS NULL THEN 'subscription_deleted'
                    WHEN NOT s.is_active OR s.generation <> q.generation
                    THEN 'subscription_inactive'
                    WHEN q.event <> ALL (s.events) THEN 'event_no_longer_wanted'
                    -- Deliveries are filtered when they are queued and when they are sent. Only
                    -- while a narrower filter is being applied may some wait in vain.
                    WHEN s.filter IS NULL
                      OR NOT EXISTS (SELECT FROM cancellation AS c WHERE c.subscription_id = s.id)
                    THEN NULL
                    WHEN NOT filter_accepts_event(s.filter, q.event_id, q.event_at)
                    THEN 'event_filtered_out'
               END AS cancel_reason
          FROM delivery_queue AS q
          LEFT JOIN webhook_subscription AS s ON s.id = q.subscription_id) AS queued;
