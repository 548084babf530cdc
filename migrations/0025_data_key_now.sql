-- What a key of the data API may do, as it is at the moment of the call; all null when there is no such key. Volatile,
-- so that a statement that has waited for the rows of the accounts learns what was committed meanwhile.
CREATE FUNCTION data_key_now(key text, OUT usable boolean, OUT scopes text[], OUT ip_allowlist text[],
                             OUT request_allowance bigint, OUT credit_allowance bigint, OUT plan text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  SELECT k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp()), k.scopes, k.ip_allowlist,
         k.monthly_request_allowance, k.monthly_credit_allowance, s.plan
    INTO usable, scopes, ip_allowlist, request_allowance, credit_allowance, plan
    FROM data_keys k JOIN workspaces s ON s.id = k.workspace_id WHERE k.id = key;
END
$$;
