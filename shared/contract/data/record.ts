import { z } from 'zod';
import { nextCursor } from '#shared/contract/common.ts';
import { changeListQuery, changeSchema } from './change.ts';
import {
  entityListQuery,
  entitySchema,
  entityVersionSchema,
  idFilter,
  typeFilter,
} from './entity.ts';
import { dataPageQuery, nextPage } from './envelope.ts';
import { eventListQuery, intelligenceEventSchema } from './event.ts';

/**
 * The members' view of their workspace's records, under `/api/data`: the same as `/v1` for keys, but with both modes
 * and without metering.
 */

const ofRecord = { entity_id: idFilter.meta({ description: 'Of one record' }) };

export const recordListQuery = entityListQuery.extend(nextPage);
export const recordListSchema = z
  .object({ entities: z.array(entitySchema), next_cursor: nextCursor })
  .meta({ id: 'EntityList' });

export const recordHistoryQuery = dataPageQuery.extend(nextPage);
export const recordHistorySchema = z
  .object({
    versions: z.array(entityVersionSchema).meta({ description: 'Newest first' }),
    changes: z.array(changeSchema).meta({
      description: 'Changes of these versions, attribute by attribute, newest version first',
    }),
    next_cursor: nextCursor,
  })
  .meta({ id: 'EntityHistory' });

export const recordChangeQuery = changeListQuery.extend({
  ...ofRecord,
  entity_type: typeFilter,
  ...nextPage,
});
const namedChangeSchema = changeSchema
  .extend({
    entity_name: z.string().nullable().meta({ description: "The record's current name" }),
  })
  .meta({ id: 'NamedChange' });
export const recordChangesSchema = z
  .object({ changes: z.array(namedChangeSchema), next_cursor: nextCursor })
  .meta({ id: 'ChangeList' });

export const recordEventQuery = eventListQuery.extend({ ...ofRecord, ...nextPage });
export const recordEventsSchema = z
  .object({ events: z.array(intelligenceEventSchema), next_cursor: nextCursor })
  .meta({ id: 'IntelligenceEventList' });
