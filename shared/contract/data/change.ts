import { z } from 'zod';
import { jsonValue, timestamp } from '#shared/contract/common.ts';
import { idFilter, sinceFilter } from './entity.ts';
import { dataPageQuery } from './envelope.ts';

export const changeListQuery = z.strictObject({
  feed_id: idFilter,
  updated_since: sinceFilter.meta({ description: 'Recorded at or after' }),
  ...dataPageQuery.shape,
});

export const changeSchema = z
  .object({
    id: z.string(),
    feed_id: z.string(),
    entity_id: z.string(),
    entity_type: z.string(),
    attribute: z.string(),
    old_value: jsonValue,
    new_value: jsonValue,
    version: z.int().meta({ description: 'Of the record, after this change' }),
    changed_at: timestamp,
    source_id: z.string().nullable(),
  })
  .meta({ id: 'Change' });
export type Change = z.infer<typeof changeSchema>;
