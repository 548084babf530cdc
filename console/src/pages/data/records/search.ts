/** URL search parameters of the list of records. */
export interface RecordSearch {
  feed_id?: string | undefined;
  entity_type?: string | undefined;
  geography?: string | undefined;
  /** From 0 to 1. */
  confidence_min?: number | undefined;
  /** A day: `2026-11-21`. */
  updated_since?: string | undefined;
}
