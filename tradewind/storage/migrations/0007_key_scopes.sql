-- API keys with scopes, an end and allowed networks; the agents that act with them.

-- NULL: the key can do what its account can, never expires, and works from anywhere.
ALTER TABLE api_key
    ADD COLUMN scopes text[]
        CHECK (scopes <@ ARRAY['read', 'order', 'pay_request', 'webhooks']
               AND cardinality(scopes) BETWEEN 1 AND 4),
    ADD COLUMN expires_at timestamptz,
    ADD COLUMN allowed_cidrs cidr[] CHECK (cardinality(allowed_cidrs) BETWEEN 1 AND 20);

-- The program that acted for the account, as it called itself. No constraints here: to check them,
-- every row of these long tables would be read under a lock.
ALTER TABLE audit ADD COLUMN agent text;
ALTER TABLE order_change ADD COLUMN agent text;
ALTER TABLE payment_request ADD COLUMN requested_agent text;
