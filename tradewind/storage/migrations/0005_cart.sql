-- The cart of an account, and the checkouts that ordered from it.

CREATE TABLE cart_line (
    id         uuid PRIMARY KEY,
    account_id uuid NOT NULL REFERENCES account,
    platform   text NOT NULL,
    product_id text NOT NULL CHECK (length(product_id) BETWEEN 1 AND 50),
    sku_id     text CHECK (length(sku_id) BETWEEN 1 AND 100),
    quantity   integer NOT NULL CHECK (quantity BETWEEN 1 AND 1000000),
    -- The product and its variant as they were seen when the line was added.
    goods      json NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT cart_line_product
        UNIQUE NULLS NOT DISTINCT (account_id, platform, product_id, sku_id)
);

-- A request to order from the cart, by its idempotency key. A repeat finishes what is missing.
CREATE TABLE cart_checkout (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL REFERENCES account,
    route       text NOT NULL,
    key         text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
    fingerprint bytea NOT NULL,
    address     json NOT NULL,
    created_at  timestamptz NOT NULL,
    -- Until then a process works on it.
    lease_until timestamptz NOT NULL,
    CONSTRAINT cart_checkout_key UNIQUE (account_id, route, key)
);
CREATE INDEX cart_checkout_age ON cart_checkout (created_at);

-- The lines of a checkout that are one order. The order is written in the transaction that accepts
-- the order and takes the lines out of the cart.
CREATE TABLE cart_checkout_group (
    checkout_id       uuid NOT NULL REFERENCES cart_checkout ON DELETE CASCADE,
    number            integer NOT NULL CHECK (number >= 0),
    account_id        uuid NOT NULL REFERENCES account,
    lines             json NOT NULL,
    -- What the buyer saw that it costs; NULL: it may cost anything.
    expected_fen      bigint,
    purchase_order_id uuid UNIQUE REFERENCES purchase_order,
    -- Why the last try ordered nothing.
    error             json,
    PRIMARY KEY (checkout_id, number)
);
