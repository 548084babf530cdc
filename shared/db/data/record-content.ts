import { createHash } from 'node:crypto';
import type { EntityRecord, EventRecord } from '#shared/contract/data/ingest.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** The content of a record, without its observation times. A change creates a new version. */
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

/** The fields besides the attributes whose changes are recorded, in this order. */
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

/** The name of an attribute in a change, with a prefix if it could be confused with a field of the record. */
const changeName = (attribute: string): string =>
  fieldNames.has(attribute) || attribute.startsWith(PREFIX) ? PREFIX + attribute : attribute;

/** One difference between two versions. Undefined: absent before or after. */
export interface Difference {
  attribute: string;
  before: Json | undefined;
  after: Json | undefined;
}

// The round trip through JSON drops undefined values.
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

/** The stored content of an event, without its ids. */
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

/** The differences by first-level attribute and by field; attributes come first, sorted by name. */
export function differences(before: EntityContent, after: EntityContent): Difference[] {
  const found: Difference[] = [];
  const names = new Set([...Object.keys(before.attributes), ...Object.keys(after.attributes)]);
  const compare = (attribute: string, old: Json | undefined, now: Json | undefined): void => {
    // Null counts as absent.
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
