import { isObject } from '#shared/graph/json-value.ts';
import type { JsonObject } from '#shared/json.ts';
import { listIn, objectIn, own } from './document.ts';
import type { Part, References } from './references.ts';
import { isNullable, namesIn } from './schema-keywords.ts';

/** The declared properties of an object, each as a part of its document. */
export interface ObjectFields {
  properties: Map<string, Part>;
  required: Set<string>;
}

/** Keywords beside which the properties of an object can be taken apart. */
const PLAIN = new Set([
  ...['type', 'properties', 'required', 'allOf', 'title', 'description', 'example', 'examples'],
  ...['default', 'additionalProperties', 'xml', 'externalDocs', 'deprecated', 'readOnly'],
  ...['writeOnly', 'nullable', '$schema', '$comment', '$id'],
]);
const MAX_LEVELS = 10;

/**
 * The properties of a schema that says only which properties an object has, with those of its `allOf`. Undefined for any
 * other schema: a choice, a map, conditions. Throws UnsupportedError.
 */
export function objectFields(schema: Part, references: References): ObjectFields | undefined {
  const fields: ObjectFields = { properties: new Map(), required: new Set() };
  return addFields(schema, references, fields, 0) && fields.properties.size > 0
    ? fields
    : undefined;
}

function addFields(
  part: Part,
  references: References,
  fields: ObjectFields,
  level: number,
): boolean {
  if (level > MAX_LEVELS || !isObject(part.value)) return false;
  const { value, base } = references.object(part, 'the schema of its body');
  if (!isPlain(value)) return false;
  for (const member of listIn(value, 'allOf')) {
    if (!addFields({ value: member, base }, references, fields, level + 1)) return false;
  }
  for (const [name, property] of Object.entries(objectIn(value, 'properties') ?? {})) {
    const before = fields.properties.get(name);
    const both = before?.base === base ? { allOf: [before.value, property] } : property;
    fields.properties.set(name, { value: both, base });
  }
  for (const name of namesIn(value, 'required')) fields.required.add(name);
  return true;
}

function isPlain(schema: JsonObject): boolean {
  if (isNullable(schema)) return false;
  const type = own(schema, 'type');
  if (type !== undefined && type !== 'object') return false;
  const rest = own(schema, 'additionalProperties');
  if (rest !== undefined && rest !== false) return false;
  return Object.keys(schema).every((name) => PLAIN.has(name) || name.startsWith('x-'));
}
