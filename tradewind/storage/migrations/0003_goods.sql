-- Goods on orders are in `purchase_order.items`, which is JSON: lines that were stored before have
-- none. What is new is a note of the requester, and a cache of products.

-- Why a payment is requested, in the words of the requester.
ALTER TABLE payment_request ADD COLUMN note text CHECK (length(note) BETWEEN 1 AND 500);

-- What an account has spent since a time.
CREATE INDEX payment_request_decided ON payment_request (account_id, decided_at)
    WHERE decided_at IS NOT NULL;

-- Products as marketplaces showed them lately. Unlogged: after a crash they are read again.
CREATE UNLOGGED TABLE product_cache (
    platform   text NOT NULL,
    product_id text NOT NULL,
    body       bytea NOT NULL,
    read_at    timestamptz NOT NULL,
    PRIMARY KEY (platform, product_id)
);
CREATE INDEX product_cache_age ON product_cache (read_at);
