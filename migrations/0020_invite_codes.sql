-- Codes that are good for an account are looked up by their hash, end, and are kept sealed where they are shown.

ALTER TABLE members
  ADD COLUMN invite_code_hash bytea,
  -- For listings; null where nothing can be sealed.
  ADD COLUMN invite_code_sealed text,
  ADD COLUMN invite_expires_at timestamptz,
  -- Releases before this write readable codes, which the API and the worker hash when they see them.
  DROP CONSTRAINT members_invite,
  ADD CONSTRAINT members_invite
    CHECK (status <> 'invited' OR invite_code IS NOT NULL OR invite_code_hash IS NOT NULL),
  ADD CONSTRAINT members_invite_code_hash_length CHECK (length(invite_code_hash) = 32),
  ADD CONSTRAINT members_invite_expires CHECK ((invite_code_hash IS NULL) = (invite_expires_at IS NULL)),
  -- Who signed up and was approved has one as well where it is mailed: with it they prove that the address is theirs.
  ADD CONSTRAINT members_invite_code_has_use
    CHECK (invite_code_hash IS NULL OR status IN ('invited', 'active'));
CREATE UNIQUE INDEX members_invite_code_hash ON members (invite_code_hash) WHERE invite_code_hash IS NOT NULL;
