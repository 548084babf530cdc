import { etagOf } from '#client/index.ts';

/** A record with its entity tag. */
export interface Tagged {
  etag: string;
}

/** A record as a call returned it, with its tag even if only the header has it, because a copy would lose it. */
export const tagged = <Fields extends object>(record: Fields): Fields & Tagged => ({
  ...record,
  etag: 'etag' in record ? String(record.etag) : (etagOf(record) ?? ''),
});
