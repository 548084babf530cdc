-- What the attempt at work at a step may cost, counted against its run's cap and budgets until it ends. Both are set
-- only where a cap or a budget with an estimate applies; what they say counts only while the claim lasts.
ALTER TABLE steps ADD COLUMN expected_micros bigint, ADD COLUMN expected_unknown boolean NOT NULL DEFAULT false;

-- Of what a hold reserves, the part that its run has not cost yet and that goes beyond the estimate; and whether a step
-- that may cost anything is at work beyond the estimate.
ALTER TABLE budget_holds ADD COLUMN pending_micros bigint NOT NULL DEFAULT 0,
  ADD COLUMN pending_unknown boolean NOT NULL DEFAULT false;
CREATE INDEX budget_holds_pending ON budget_holds (budget_id) WHERE pending_micros > 0 OR pending_unknown;
