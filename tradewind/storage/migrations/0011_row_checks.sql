-- The same checks of orders and payments in one function each. PostgreSQL reads and plans every
-- CHECK constraint of a table again for each statement that writes to it, which took most of the
-- time of a change. A function in PL/pgSQL is read once in a session. What it rejects has the name
-- of the constraint that it was before.

-- As with a CHECK constraint, a condition that is NULL is no violation.
CREATE FUNCTION is_possible_order(
        status text, payment_status text, platform_payment_status text, work text,
        external_id text, goods_fen bigint, freight_fen bigint, discount_fen bigint,
        total_fen bigint, paid_fen bigint, refunded_fen bigint, payment_id uuid, order_ids text[],
        next_sync_at timestamptz)
    RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    violated text := CASE
        WHEN NOT (num_nulls(goods_fen, freight_fen, discount_fen, total_fen) IN (0, 4)
                  AND total_fen = goods_fen + freight_fen - discount_fen)
        THEN 'amounts_add_up'
        WHEN (payment_id IS NOT NULL)
             <> (payment_status IN ('pending_approval', 'approved', 'processing'))
        THEN 'an_open_payment_is_named'
        WHEN status NOT IN ('creating', 'create_failed', 'cancelled') AND order_ids = '{}'
        THEN 'an_order_there_has_an_id_there'
        WHEN NOT CASE payment_status
                     WHEN 'refunded' THEN refunded_fen = paid_fen
                     WHEN 'partially_refunded' THEN refunded_fen > 0 AND refunded_fen < paid_fen
                     ELSE refunded_fen = 0
                 END
        THEN 'payment_status_as_the_money'
        WHEN (next_sync_at IS NULL) <> (work = 'none')
        THEN 'purchase_order_check'
        WHEN length(external_id) NOT BETWEEN 1 AND 100
        THEN 'purchase_order_external_id_check'
        WHEN paid_fen < 0
        THEN 'purchase_order_paid_fen_check'
        WHEN payment_status NOT IN
             ('unpaid', 'pending_approval', 'approved', 'rejected', 'processing', 'paid',
              'failed', 'partially_refunded', 'refunded', 'cancelled')
        THEN 'purchase_order_payment_status_check'
        WHEN platform_payment_status NOT IN
             ('unpaid', 'processing', 'paid', 'partially_paid', 'failed', 'partially_refunded',
              'refunded', 'closed', 'unknown')
        THEN 'purchase_order_platform_payment_status_check'
        WHEN refunded_fen < 0
        THEN 'purchase_order_refunded_fen_check'
        WHEN status NOT IN
             ('creating', 'create_failed', 'pending_payment', 'paid', 'partially_shipped',
              'shipped', 'received', 'completed', 'cancelled', 'closed', 'unknown')
        THEN 'purchase_order_status_check'
        WHEN total_fen < 0
        THEN 'purchase_order_total_fen_check'
        WHEN work NOT IN ('create', 'cancel', 'pay', 'sync', 'none')
        THEN 'purchase_order_work_check'
        WHEN refunded_fen > paid_fen
        THEN 'refunds_within_what_was_paid'
    END;
BEGIN
    IF violated IS NOT NULL THEN
        RAISE check_violation USING
            MESSAGE = format('new row for relation "purchase_order" violates check constraint "%s"',
                             violated),
            TABLE = 'purchase_order', CONSTRAINT = violated;
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION is_possible_payment(
        status text, mode text, amount_fen bigint, note text, requested_by uuid, decided_by uuid,
        decided_at timestamptz, sent_at timestamptz)
    RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    violated text := CASE
        -- Whoever requested a payment may withdraw it, and may not approve or reject it.
        WHEN status <> 'withdrawn' AND decided_by = requested_by
        THEN 'four_eyes'
        WHEN sent_at IS NOT NULL AND decided_at IS NULL
        THEN 'only_what_was_approved_is_sent'
        WHEN amount_fen < 0
        THEN 'payment_request_amount_fen_check'
        WHEN (decided_by IS NULL) <> (decided_at IS NULL)
        THEN 'payment_request_check'
        WHEN mode NOT IN ('auto', 'link')
        THEN 'payment_request_mode_check'
        WHEN length(note) NOT BETWEEN 1 AND 500
        THEN 'payment_request_note_check'
        WHEN status NOT IN
             ('pending_approval', 'withdrawn', 'approved', 'rejected', 'superseded', 'processing',
              'paid', 'failed')
        THEN 'payment_request_status_check'
    END;
BEGIN
    IF violated IS NOT NULL THEN
        RAISE check_violation USING
            MESSAGE = format('new row for relation "payment_request" violates check constraint "%s"',
                             violated),
            TABLE = 'payment_request', CONSTRAINT = violated;
    END IF;
    RETURN true;
END $$;

-- NOT VALID: the rows that exist were checked when they were written, and need not be read again.
ALTER TABLE purchase_order
    DROP CONSTRAINT amounts_add_up,
    DROP CONSTRAINT an_open_payment_is_named,
    DROP CONSTRAINT an_order_there_has_an_id_there,
    DROP CONSTRAINT payment_status_as_the_money,
    DROP CONSTRAINT purchase_order_check,
    DROP CONSTRAINT purchase_order_external_id_check,
    DROP CONSTRAINT purchase_order_paid_fen_check,
    DROP CONSTRAINT purchase_order_payment_status_check,
    DROP CONSTRAINT purchase_order_platform_payment_status_check,
    DROP CONSTRAINT purchase_order_refunded_fen_check,
    DROP CONSTRAINT purchase_order_status_check,
    DROP CONSTRAINT purchase_order_total_fen_check,
    DROP CONSTRAINT purchase_order_work_check,
    DROP CONSTRAINT refunds_within_what_was_paid,
    ADD CONSTRAINT is_possible CHECK (is_possible_order(
        status, payment_status, platform_payment_status, work, external_id, goods_fen, freight_fen,
        discount_fen, total_fen, paid_fen, refunded_fen, payment_id, order_ids, next_sync_at))
        NOT VALID;

ALTER TABLE payment_request
    DROP CONSTRAINT four_eyes,
    DROP CONSTRAINT only_what_was_approved_is_sent,
    DROP CONSTRAINT payment_request_amount_fen_check,
    DROP CONSTRAINT payment_request_check,
    DROP CONSTRAINT payment_request_mode_check,
    DROP CONSTRAINT payment_request_note_check,
    DROP CONSTRAINT payment_request_status_check,
    ADD CONSTRAINT is_possible CHECK (is_possible_payment(
        status, mode, amount_fen, note, requested_by, decided_by, decided_at, sent_at))
        NOT VALID;
