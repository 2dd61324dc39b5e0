-- The figures of the overview: what an account spent, and its orders with refunds.

-- The spend of an account by time and marketplace, read from the index alone.
CREATE INDEX purchase_order_spend ON purchase_order (account_id, created_at)
    INCLUDE (platform, paid_fen, refunded_fen)
    WHERE paid_fen > 0;

-- The few orders that have refunds, open or not.
CREATE INDEX purchase_order_refunds ON purchase_order (account_id, id)
    WHERE json_array_length(refunds) > 0;
