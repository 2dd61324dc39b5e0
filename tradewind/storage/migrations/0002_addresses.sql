-- The address book of an account.

CREATE TABLE saved_address (
    id          uuid PRIMARY KEY,
    account_id  uuid NOT NULL REFERENCES account,
    label       text NOT NULL DEFAULT '' CHECK (length(label) <= 50),
    name        text NOT NULL CHECK (length(name) BETWEEN 1 AND 50),
    phone       text NOT NULL CHECK (length(phone) BETWEEN 5 AND 30),
    province    text NOT NULL CHECK (length(province) BETWEEN 1 AND 50),
    city        text NOT NULL CHECK (length(city) BETWEEN 1 AND 50),
    district    text NOT NULL CHECK (length(district) BETWEEN 1 AND 50),
    detail      text NOT NULL CHECK (length(detail) BETWEEN 1 AND 200),
    postal_code text CHECK (length(postal_code) BETWEEN 1 AND 20),
    is_default  boolean NOT NULL,
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL
);
CREATE INDEX saved_address_account ON saved_address (account_id, id);
-- At most one default for each account.
CREATE UNIQUE INDEX saved_address_default ON saved_address (account_id) WHERE is_default;
