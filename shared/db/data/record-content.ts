import { createHash } from 'node:crypto';
import type { EntityRecord, EventRecord } from '../../contract/data/ingest.ts';
import { canonicalJson } from '../../values/canonical-json.ts';
import type { Json, JsonObject } from '../../json.ts';

/** What a new version of a record is made for: everything but when it was seen. */
export interface EntityContent {
  entity_type: string;
  canonical_name: string;
  aliases: Json;
  attributes: JsonObject;
  external_ids: JsonObject;
  geography: JsonObject;
  status: string;
  verification_status: string;
  confidence: number;
  source_evidence: Json;
}

/** The fields beside the attributes whose changes are told, in this order. */
const changingFields = [
  'canonical_name',
  'aliases',
  'external_ids',
  'geography',
  'status',
  'verification_status',
  'confidence',
  'source_evidence',
] as const satisfies (keyof EntityContent)[];
const fieldNames: ReadonlySet<string> = new Set([...changingFields, 'entity_type']);
const PREFIX = 'attributes.';

/** How a change names an attribute: by its name, unless a field of the record has the same. */
const changeName = (attribute: string): string =>
  fieldNames.has(attribute) || attribute.startsWith(PREFIX) ? PREFIX + attribute : attribute;

/** One difference between two versions. Undefined: it was not there, or is not any more. */
export interface Difference {
  attribute: string;
  before: Json | undefined;
  after: Json | undefined;
}

// Through JSON, so that what is absent is so by being left out.
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

export function entityContent(record: EntityRecord): EntityContent {
  return {
    entity_type: record.entity_type,
    canonical_name: record.canonical_name,
    aliases: record.aliases,
    attributes: record.attributes,
    external_ids: record.external_ids,
    geography: asJson(record.geography) as JsonObject,
    status: record.status,
    verification_status: record.verification_status,
    confidence: record.confidence,
    source_evidence: asJson(record.source_evidence),
  };
}

/** An event as it is kept, apart from what names it. */
export function eventContent(record: EventRecord) {
  return {
    event_type: record.event_type,
    primary_external_key: record.primary_external_key,
    occurred_at: record.occurred_at,
    summary: record.summary,
    relevance_score: record.relevance_score ?? null,
    opportunity_score: record.opportunity_score ?? null,
    confidence: record.confidence,
    verification_status: record.verification_status,
    match_reason: record.match_reason ?? null,
    source_evidence: asJson(record.source_evidence),
  };
}
export type EventContent = ReturnType<typeof eventContent>;

/** SHA-256 over canonical JSON, in hexadecimal. */
export const contentHash = (content: EntityContent | EventContent): string =>
  createHash('sha256').update(canonicalJson(content)).digest('hex');

/** What is different, attribute by attribute of the first level and field by field; attributes first, by name. */
export function differences(before: EntityContent, after: EntityContent): Difference[] {
  const found: Difference[] = [];
  const names = new Set([...Object.keys(before.attributes), ...Object.keys(after.attributes)]);
  const compare = (attribute: string, old: Json | undefined, now: Json | undefined): void => {
    // Nothing is known of what is null, as of what is not there.
    if (isSame(old ?? null, now ?? null)) return;
    found.push({ attribute, before: old, after: now });
  };
  for (const name of [...names].sort()) {
    compare(changeName(name), own(before.attributes, name), own(after.attributes, name));
  }
  for (const field of changingFields) compare(field, before[field], after[field]);
  return found;
}

const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

const isSame = (a: Json, b: Json): boolean => a === b || canonicalJson(a) === canonicalJson(b);
