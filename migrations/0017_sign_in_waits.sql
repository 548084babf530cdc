-- A step can also wait until a member signs in to a connection that members own. `connection_id`, `member_id`: the account that has no
-- token. A sign-in to it ends all its waits. `rejected`: a person has decided that the step does not wait any longer; `output` says
-- who. No reference, so that what is deleted meanwhile does not wait for the row.
ALTER TABLE run_waits
  ADD COLUMN connection_id text, ADD COLUMN member_id text,
  DROP CONSTRAINT run_waits_kind_check,
  ADD CONSTRAINT run_waits_kind_check CHECK (kind IN ('time', 'event', 'callback', 'connection')) NOT VALID,
  DROP CONSTRAINT run_waits_status_check,
  ADD CONSTRAINT run_waits_status_check CHECK (status IN ('open', 'came', 'late', 'cancelled', 'rejected')) NOT VALID,
  ADD CONSTRAINT run_waits_account CHECK ((kind = 'connection') = (connection_id IS NOT NULL AND member_id IS NOT NULL)) NOT VALID;

CREATE INDEX run_waits_of_account ON run_waits (connection_id, member_id) WHERE connection_id IS NOT NULL AND status = 'open';
CREATE INDEX run_waits_of_member ON run_waits (member_id) WHERE member_id IS NOT NULL AND status = 'open';
