-- What the dashboard asks for: sessions that their owner ends, and the list of first steps.

ALTER TABLE session
    DROP CONSTRAINT session_end_reason_check,
    ADD CONSTRAINT session_end_reason_check CHECK (end_reason IN
        ('logout', 'password_changed', 'account_locked', 'refresh_token_reused', 'ended_by_owner'));

-- Since when the overview shows the list of first steps no more, because they said so.
ALTER TABLE account ADD COLUMN steps_dismissed_at timestamptz;

-- The payments of an account, wherever its orders stand.
CREATE INDEX payment_request_account ON payment_request (account_id, status, id);
