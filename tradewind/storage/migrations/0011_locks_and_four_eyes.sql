-- Who gave whom access (four eyes), and an audit log without the secret parts of URLs.

-- What an operator did by which they, or somebody they chose, can act as an account or approve with
-- it. An approval looks back over the last 24 hours of this. The command line leaves no row: no
-- account is behind it. `granted_by` is not a foreign key, so that two operators who change each
-- other's account do not wait for each other in a circle; accounts are never deleted.
CREATE TABLE account_grant (
    account_id uuid NOT NULL REFERENCES account,
    granted_by uuid NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('role', 'password', 'password_link', 'unlock')),
    granted_at timestamptz NOT NULL
);
CREATE INDEX account_grant_time ON account_grant (granted_at);

-- The operator's account that made the link; NULL for the command line.
ALTER TABLE password_link ADD COLUMN created_by uuid;

UPDATE password_link AS link
   SET created_by = made.actor_id
  FROM (SELECT DISTINCT ON (account_id) account_id, actor_id
          FROM audit
         WHERE action = 'account.password_link_made'
         ORDER BY account_id, id DESC) AS made
 WHERE made.account_id = link.account_id;

-- What the last day's audit log tells of. Whether an account was created with a password it does
-- not say, so every one counts as if it was.
INSERT INTO account_grant (account_id, granted_by, kind, granted_at)
SELECT audit.account_id, audit.actor_id, grants.kind, audit.at
  FROM audit
 CROSS JOIN LATERAL (
       SELECT 'password' AS kind
        WHERE audit.action = 'account.created'
       UNION ALL
       SELECT 'role'
        WHERE audit.action = 'account.created'
          AND audit.details -> 'roles' ?| ARRAY['approver', 'operator']
       UNION ALL
       SELECT 'role'
        WHERE audit.action = 'account.roles_changed'
          AND (   audit.details -> 'after' ? 'approver' AND NOT audit.details -> 'before' ? 'approver'
               OR audit.details -> 'after' ? 'operator' AND NOT audit.details -> 'before' ? 'operator')
       UNION ALL
       SELECT 'password_link'
        WHERE audit.action = 'account.password_link_made'
       UNION ALL
       SELECT 'unlock'
        WHERE audit.action = 'account.unlocked') AS grants
 WHERE audit.at > tradewind_now() - interval '24 hours'
   AND audit.actor_id IS NOT NULL
   AND audit.account_id IS NOT NULL;

-- User info, query and fragment of a URL often hold tokens.
UPDATE audit
   SET details = details || jsonb_build_object('url',
           regexp_replace(
               regexp_replace(details ->> 'url', '[?#].*$', ''), '^([a-z]+://)[^/]*@', '\1'))
 WHERE details ->> 'url' ~ '[?#@]';
