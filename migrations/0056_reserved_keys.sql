-- No node can set the key 'secrets' any more, which nothing can read. Versions that may do so keep running.
ALTER TABLE workflow_versions ADD COLUMN may_set_secrets boolean NOT NULL DEFAULT false;
UPDATE workflow_versions SET may_set_secrets = true WHERE graph::text LIKE '%"secrets"%';
