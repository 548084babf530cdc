import type { EntityRecord, EventRecord, IngestRecord } from '#shared/contract/data/ingest.ts';
import { isVerified, wasLookedAt } from '#shared/contract/data/envelope.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { newId } from '#shared/crypto/ids.ts';
import type { OutboundEvent } from '#shared/db/webhooks/outbound-events.ts';
import {
  contentHash,
  type Difference,
  differences,
  entityContent,
  type EntityContent,
  type EventContent,
  eventContent,
} from './record-content.ts';

/** A record and its position in the request, counted from 1. */
export interface NumberedRecord {
  line: number;
  record: IngestRecord;
}

/** An entity before the batch. */
export interface KnownEntity {
  external_key: string;
  id: string;
  entity_type: string;
  version: number;
  hash: string;
  /** Null where the hash shows that the batch's first record for this entity changes nothing. */
  content: EntityContent | null;
}

export interface KnownEvent {
  external_key: string;
  id: string;
  hash: string;
  verification_status: string;
}

export interface BatchFeed {
  id: string;
  is_demo: boolean;
  entity_types: readonly string[];
}

interface Counts {
  created: number;
  updated: number;
  unchanged: number;
}

export interface BatchOutcome extends Counts {
  events: Counts;
  refusals: { line: number; reason: string }[];
}

/** Everything that a batch writes, as rows. */
export interface BatchPlan {
  outcome: BatchOutcome;
  entities: EntityRow[];
  /** Versions that the batch both created and superseded. */
  passedVersions: {
    entity_id: string;
    version: number;
    attributes: JsonObject;
    changed: string[];
  }[];
  changes: ChangeRow[];
  seen: { id: string; hash: string; last_observed_at: string }[];
  events: EventRow[];
  promises: OutboundEvent[];
}

type EntityRow = EntityContent & {
  id: string;
  is_new: boolean;
  external_key: string;
  version: number;
  hash: string;
  first_observed_at: string;
  last_observed_at: string;
  /** Whether it became verified in this batch. */
  verified: boolean;
  changed: string[];
};

interface ChangeRow {
  id: string;
  entity_id: string;
  entity_type: string;
  attribute: string;
  old_value?: Json | undefined;
  new_value?: Json | undefined;
  version: number;
  source_id: string | null;
}

type EventRow = Omit<EventContent, 'primary_external_key'> & {
  id: string;
  is_new: boolean;
  external_key: string;
  primary_entity_id: string;
  hash: string;
};

/** An entity during a batch. */
interface EntityState {
  id: string;
  isNew: boolean;
  entity_type: string;
  version: number;
  hash: string;
  content: EntityContent | null;
  row?: EntityRow;
  firstObservedAt: string;
  lastObservedAt?: string;
}

interface EventState {
  id: string;
  isNew: boolean;
  hash: string;
  verification_status: string;
  row?: EventRow;
}

const noCounts = (): Counts => ({ created: 0, updated: 0, unchanged: 0 });

/**
 * The result of applying the records in order to the existing rows. `stamp` is the time of the batch. Pure except for
 * generated ids.
 */
export function planBatch(
  feed: BatchFeed,
  stamp: string,
  known: { entities: readonly KnownEntity[]; events: readonly KnownEvent[] },
  records: readonly NumberedRecord[],
): BatchPlan {
  const batch: Batch = {
    feed,
    stamp,
    entities: new Map(
      known.entities.map(({ external_key, ...entity }) => [
        external_key,
        { ...entity, isNew: false, firstObservedAt: stamp },
      ]),
    ),
    events: new Map(
      known.events.map(({ external_key, ...event }) => [external_key, { ...event, isNew: false }]),
    ),
    plan: {
      outcome: { ...noCounts(), events: noCounts(), refusals: [] },
      entities: [],
      passedVersions: [],
      changes: [],
      seen: [],
      events: [],
      promises: [],
    },
  };
  for (const { line, record } of records) {
    const reason =
      record.type === 'entity' ? applyEntity(batch, record) : applyEvent(batch, record);
    if (reason !== undefined) batch.plan.outcome.refusals.push({ line, reason });
  }
  for (const { id, hash, row, lastObservedAt } of batch.entities.values()) {
    if (row !== undefined) row.last_observed_at = lastObservedAt ?? row.last_observed_at;
    else if (lastObservedAt !== undefined) {
      batch.plan.seen.push({ id, hash, last_observed_at: lastObservedAt });
    }
  }
  return batch.plan;
}

interface Batch {
  feed: BatchFeed;
  stamp: string;
  entities: Map<string, EntityState>;
  events: Map<string, EventState>;
  plan: BatchPlan;
}

/** Returns the reason if the record is refused. */
function applyEntity(batch: Batch, record: EntityRecord): string | undefined {
  const { feed, stamp, entities, plan } = batch;
  const { external_key, entity_type } = record;
  if (feed.entity_types.length > 0 && !feed.entity_types.includes(entity_type)) {
    return `entity_type '${entity_type}' is not one of the feed's types`;
  }
  const state = entities.get(external_key);
  if (state !== undefined && state.entity_type !== entity_type) {
    return `entity_type is already '${state.entity_type}' and cannot become '${entity_type}'`;
  }
  const content = entityContent(record);
  const hash = contentHash(content);
  const observedAt = record.observed_at ?? stamp;
  if (state === undefined) {
    const made: EntityState = {
      id: newId('entity'),
      isNew: true,
      entity_type,
      version: 1,
      hash,
      content,
      firstObservedAt: observedAt,
      lastObservedAt: observedAt,
    };
    entities.set(external_key, made);
    plan.outcome.created += 1;
    writeVersion(batch, external_key, made, { content, hash, changed: [] });
    return undefined;
  }
  state.lastObservedAt = later(state.lastObservedAt, observedAt);
  // Rows from before times were normalized have the hash of the text as sent.
  const found = state.hash === hash ? [] : differencesOf(state, content);
  if (found.length === 0) {
    Object.assign(state, { content, hash });
    plan.outcome.unchanged += 1;
    return undefined;
  }
  plan.outcome.updated += 1;
  state.version += 1;
  const changed = noteChanges(batch, state, content, found);
  writeVersion(batch, external_key, state, { content, hash, changed });
  return undefined;
}

const later = (a: string | undefined, b: string): string => (a !== undefined && a > b ? a : b);

function differencesOf({ id, content }: EntityState, after: EntityContent): Difference[] {
  if (content === null) throw new Error(`The previous state of ${id} is missing`);
  return differences(content, after);
}

/** Returns the names of the fields that differ in `content`. */
function noteChanges(
  { plan }: Batch,
  state: EntityState,
  content: EntityContent,
  found: readonly Difference[],
): string[] {
  const source_id = sourceOf(content);
  for (const { attribute, before, after } of found) {
    plan.changes.push({
      id: newId('change'),
      entity_id: state.id,
      entity_type: state.entity_type,
      attribute,
      old_value: before,
      new_value: after,
      version: state.version,
      source_id,
    });
  }
  return found.map(({ attribute }) => attribute);
}

/** The first source that a record names. */
function sourceOf({ source_evidence }: EntityContent): string | null {
  for (const evidence of source_evidence as { source_id?: string | null }[]) {
    if (typeof evidence.source_id === 'string') return evidence.source_id;
  }
  return null;
}

function writeVersion(
  { feed, stamp, plan }: Batch,
  external_key: string,
  state: EntityState,
  { content, hash, changed }: { content: EntityContent; hash: string; changed: string[] },
): void {
  const was = state.version === 1 ? undefined : state.content?.verification_status;
  const verified = wasLookedAt(content.verification_status) && was !== content.verification_status;
  const { row } = state;
  if (row !== undefined) {
    const { version, attributes } = row;
    plan.passedVersions.push({ entity_id: state.id, version, attributes, changed: row.changed });
  }
  const next: EntityRow = {
    ...content,
    id: state.id,
    is_new: state.isNew,
    external_key,
    version: state.version,
    hash,
    first_observed_at: state.firstObservedAt,
    last_observed_at: state.lastObservedAt ?? stamp,
    verified: verified || row?.verified === true,
    changed,
  };
  // Sorts in place, so that rows keep the order of their entities.
  if (row === undefined) plan.entities.push((state.row = next));
  else Object.assign(row, next);
  Object.assign(state, { content, hash });
  plan.promises.push({
    type: state.version === 1 ? 'entity.created' : 'entity.updated',
    isDemo: feed.is_demo,
    data: {
      feed_id: feed.id,
      entity_id: state.id,
      entity_type: state.entity_type,
      canonical_name: content.canonical_name,
      version: state.version,
      verification_status: content.verification_status,
      changed,
    },
  });
}

/** Returns the reason if the event is refused. */
function applyEvent(batch: Batch, record: EventRecord): string | undefined {
  const { entities, events, plan } = batch;
  const { external_key } = record;
  const entity = entities.get(record.primary_external_key);
  if (entity === undefined) {
    return `primary_external_key '${record.primary_external_key}' is not a record of the feed`;
  }
  const content = eventContent(record);
  const hash = contentHash(content);
  const counts = plan.outcome.events;
  const state = events.get(external_key) ?? {
    id: newId('event'),
    isNew: true,
    hash: '',
    verification_status: '',
  };
  if (state.hash === hash) {
    counts.unchanged += 1;
    return undefined;
  }
  if (state.hash === '') counts.created += 1;
  else counts.updated += 1;
  queueEvent(batch, state, content);
  const { primary_external_key: _key, ...columns } = content;
  const row = {
    ...columns,
    id: state.id,
    is_new: state.isNew,
    external_key,
    primary_entity_id: entity.id,
    hash,
  };
  if (state.row === undefined) plan.events.push((state.row = row));
  else Object.assign(state.row, row);
  events.set(
    external_key,
    Object.assign(state, { hash, verification_status: content.verification_status }),
  );
  return undefined;
}

function queueEvent({ feed, plan }: Batch, state: EventState, content: EventContent): void {
  const data = {
    feed_id: feed.id,
    intelligence_event_id: state.id,
    event_type: content.event_type,
    summary: content.summary,
    opportunity_score: content.opportunity_score,
    confidence: content.confidence,
  };
  const isDemo = feed.is_demo;
  if (state.hash === '') plan.promises.push({ type: 'intelligence_event.created', isDemo, data });
  if (isVerified(content.verification_status) && !isVerified(state.verification_status)) {
    const { verification_status } = content;
    plan.promises.push({
      type: 'intelligence_event.verified',
      isDemo,
      data: { ...data, verification_status },
    });
  }
}
