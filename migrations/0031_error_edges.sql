-- Why a step has failed. `caught`: its error edges were taken, so the run continued, and a resume does not repeat it.
ALTER TABLE steps
  ADD COLUMN error_kind text,
  ADD COLUMN caught boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT steps_error_kind_check
    CHECK (error_kind IN ('node', 'timeout', 'policy', 'rejected', 'child')) NOT VALID;
