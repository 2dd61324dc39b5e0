-- An audit log without the secret parts of URLs.

-- User info, query and fragment of a URL often hold tokens.
UPDATE audit
   SET details = details || jsonb_build_object('url',
           regexp_replace(
               regexp_replace(details ->> 'url', '[?#].*$', ''), '^([a-z]+://)[^/]*@', '\1'))
 WHERE details ->> 'url' ~ '[?#@]';
