-- Marketplaces: our connection to each, and the searches that were answered a moment ago.

CREATE TABLE platform_connection (
    platform           text PRIMARY KEY,
    app_key            text NOT NULL CHECK (length(app_key) BETWEEN 1 AND 200),
    -- Who said so: the settings, or an operator, whose word stands until they change it.
    source             text NOT NULL CHECK (source IN ('settings', 'operator')),
    -- What the settings said when they were adopted, to notice that they changed.
    settings_hash      bytea,
    -- An operator disconnected it: the row stays, so that the settings do not bring it back.
    disconnected       boolean NOT NULL DEFAULT false,
    -- Sealed for this row.
    app_secret         bytea NOT NULL,
    access_token       bytea,
    refresh_token      bytea,
    access_expires_at  timestamptz,
    refresh_expires_at timestamptz,
    owner              text,
    -- Rises with every change, so that whoever refreshes knows whether somebody else did.
    version            integer NOT NULL DEFAULT 1,
    -- Until when one process has the refresh to itself.
    refreshing_until   timestamptz,
    -- What the last refresh failed with, for operators, and whether it was refused for good.
    failure            text,
    refused_at         timestamptz,
    updated_at         timestamptz NOT NULL,
    CHECK ((access_token IS NULL) = (access_expires_at IS NULL))
);

-- Answers to searches. Unlogged: after a crash they are asked for again.
CREATE UNLOGGED TABLE search_cache (
    key        bytea PRIMARY KEY,
    body       bytea NOT NULL,
    fetched_at timestamptz NOT NULL
);
CREATE INDEX search_cache_age ON search_cache (fetched_at);
