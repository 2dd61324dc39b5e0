-- What will never be sent is cancelled at once, wherever people look; and a recovery says whether
-- its count is exact.

-- The queue as people read it. `cancel_reason` says why a delivery will not be sent, by the rules
-- of `delivery/retry_policy.py` that concern the subscription; null: it will be. What a worker holds a
-- lease on may be on its way already, so it stays pending whatever became of its subscription.
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

-- Subscriptions whose queue a worker has to go through, because they were switched off, were
-- deleted, or list fewer kinds of events than before. It goes through it in batches.
CREATE TABLE cancellation (
    subscription_id uuid PRIMARY KEY,
    -- The last row of the queue that this pass has looked at.
    after_due_at    timestamptz NOT NULL DEFAULT 'epoch',
    after_id        uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    -- Whether this pass met a delivery that it could not cancel, because it was being sent.
    met_in_flight   boolean NOT NULL DEFAULT false,
    next_at         timestamptz NOT NULL
);
INSERT INTO cancellation (subscription_id, next_at)
SELECT DISTINCT subscription_id, tradewind_now() FROM queued_delivery WHERE cancel_reason IS NOT NULL;

-- False: more events than were counted.
ALTER TABLE recover_job ADD COLUMN total_is_exact boolean NOT NULL DEFAULT true;
