-- A request that was withdrawn says by whom and when, like one that was approved or rejected. Whoever
-- asked for a payment may take that back; nobody else's agreement is needed for it.
ALTER TABLE payment_request
    DROP CONSTRAINT four_eyes,
    ADD CONSTRAINT four_eyes CHECK (status = 'withdrawn' OR decided_by <> requested_by);

UPDATE payment_request AS r
   SET decided_by = c.actor_id, decided_email = c.actor, decided_at = c.at
  FROM order_change AS c
 WHERE c.purchase_order_id = r.purchase_order_id
   AND c.cause = 'payment_withdrawn'
   AND c.at = r.updated_at
   AND c.actor_id IS NOT NULL
   AND r.status = 'withdrawn'
   AND r.decided_at IS NULL;
