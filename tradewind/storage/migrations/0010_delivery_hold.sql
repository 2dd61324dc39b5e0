-- An operator holds all deliveries, after a restore for example. While the row is there, no worker
-- claims a delivery.
CREATE TABLE delivery_hold (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    since    timestamptz NOT NULL,
    reason   text NOT NULL
);
