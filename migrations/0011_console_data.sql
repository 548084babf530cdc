-- What members read of records: the changes and events of one record, and changes by the type of their records, each
-- in the order of an index as the lists of 0009. Those by record take the place of indexes that only deletions used.
CREATE INDEX data_changes_newest_of_entity ON data_changes (entity_id, changed_at, seq);
CREATE INDEX data_changes_newest_of_type ON data_changes (workspace_id, is_demo, entity_type, changed_at, seq);
CREATE INDEX data_changes_newest_of_feed_type ON data_changes (feed_id, entity_type, changed_at, seq);
CREATE INDEX data_events_newest_of_entity ON data_events (primary_entity_id, detected_at, seq);
DROP INDEX data_changes_by_entity;
DROP INDEX data_events_by_entity;
