-- Where a sign-up came from, so that one network cannot take all places of those who wait for approval.
ALTER TABLE members ADD COLUMN signup_network text;
CREATE INDEX members_pending_by_network ON members (signup_network) WHERE status = 'pending';
