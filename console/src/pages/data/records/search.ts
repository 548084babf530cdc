/** URL search parameters of the lists of records, changes and deliveries. */

export interface RecordSearch {
  feed_id?: string | undefined;
  entity_type?: string | undefined;
  geography?: string | undefined;
  /** From 0 to 1. */
  confidence_min?: number | undefined;
  /** A day: `2026-11-21`. */
  updated_since?: string | undefined;
}

export interface ChangeSearch {
  feed_id?: string | undefined;
  entity_type?: string | undefined;
  entity_id?: string | undefined;
}

export interface DeliverySearch {
  status?: string | undefined;
}
