-- Imports: files with many orders. Nothing is ordered before somebody confirmed the total.

CREATE TABLE import (
    id             uuid PRIMARY KEY,
    account_id     uuid NOT NULL REFERENCES account,
    file_name      text NOT NULL CHECK (length(file_name) BETWEEN 1 AND 200),
    -- The name of the column for each field, and the names of those that mean nothing to us.
    columns        json NOT NULL,
    unused_columns json NOT NULL,
    status         text NOT NULL CHECK (status IN ('checking', 'ready', 'ordering', 'done')),
    confirmed_fen  bigint CHECK (confirmed_fen >= 0),
    confirmed_by   text,
    confirmed_at   timestamptz,
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    ended_at       timestamptz,
    -- When a worker goes on with it. One worker at a time holds the lease.
    next_at        timestamptz NOT NULL,
    lease_until    timestamptz NOT NULL DEFAULT 'epoch',

    CONSTRAINT ordered_only_if_confirmed CHECK (
        (status IN ('ordering', 'done')) = (confirmed_at IS NOT NULL)
        AND num_nulls(confirmed_fen, confirmed_by, confirmed_at) IN (0, 3)),
    CONSTRAINT ended_when_done CHECK ((status = 'done') = (ended_at IS NOT NULL))
);
CREATE INDEX import_account ON import (account_id, id);
CREATE INDEX import_running ON import (next_at) WHERE status IN ('checking', 'ordering');
CREATE INDEX import_age ON import (created_at);

-- The orders of an import. `wanted` is the order as the API takes it; NULL if a row has an error.
CREATE TABLE import_order (
    import_id     uuid NOT NULL REFERENCES import ON DELETE CASCADE,
    number        integer NOT NULL CHECK (number > 0),
    account_id    uuid NOT NULL REFERENCES account,
    reference     text CHECK (length(reference) > 0),
    wanted        json,
    status        text NOT NULL CHECK (status IN ('waiting', 'checked', 'failed', 'placed')),
    goods_fen     bigint,
    freight_fen   bigint,
    discount_fen  bigint,
    total_fen     bigint CHECK (total_fen >= 0),
    error_code    text,
    error_message text,
    attempts      integer NOT NULL DEFAULT 0,
    PRIMARY KEY (import_id, number),

    CONSTRAINT amounts_add_up CHECK (
        num_nulls(goods_fen, freight_fen, discount_fen, total_fen) IN (0, 4)
        AND total_fen = goods_fen + freight_fen - discount_fen),
    CONSTRAINT what_is_checked_has_a_price CHECK (
        status NOT IN ('checked', 'placed') OR total_fen IS NOT NULL),
    CONSTRAINT what_has_no_error_can_be_ordered CHECK (status = 'failed' OR wanted IS NOT NULL)
);
CREATE INDEX import_order_pending ON import_order (import_id, status, number);

-- The rows of an import as they are in the file, and the errors of each.
CREATE TABLE import_row (
    import_id    uuid NOT NULL,
    number       integer NOT NULL CHECK (number > 0),
    account_id   uuid NOT NULL REFERENCES account,
    order_number integer NOT NULL,
    cells        json NOT NULL,
    errors       json NOT NULL,
    PRIMARY KEY (import_id, number),
    FOREIGN KEY (import_id, order_number) REFERENCES import_order ON DELETE CASCADE
);
CREATE INDEX import_row_order ON import_row (import_id, order_number);

-- The order that an order of an import became. It is written in the statement that accepts the
-- order, so that no order of an import is accepted twice.
CREATE TABLE import_placement (
    import_id         uuid NOT NULL,
    number            integer NOT NULL,
    account_id        uuid NOT NULL REFERENCES account,
    purchase_order_id uuid NOT NULL UNIQUE REFERENCES purchase_order,
    CONSTRAINT import_placement_once PRIMARY KEY (import_id, number),
    FOREIGN KEY (import_id, number) REFERENCES import_order ON DELETE CASCADE
);
