import type { InputRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** Forms with more fields are filled in on the gate's page. */
const MAX_FIELDS = 20;
const MAX_REASON = 1_000;
/** Fields of the gate's form get a prefix, because they share an object with the decision and the reason. */
const PREFIX = 'input_';

type FormRequest = Extract<InputRequest, { method: 'elicitation/create' }>['params'];
type Requested = Extract<FormRequest, { requestedSchema: unknown }>['requestedSchema'];
type Field = Requested['properties'][string];

/** What each type keeps of a field's schema. What it loses is checked with the answer. */
const KEPT: Record<string, readonly string[]> = {
  string: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
};
const FORMATS = ['date', 'uri', 'email', 'date-time'];
const COMBINATORS = ['$ref', '$dynamicRef', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'const'];

/**
 * The fields of a gate's form in the flat schema that the protocol allows; undefined if it does not fit: it has objects,
 * lists without a set of texts, alternatives, or more than 20 fields. `given`: what the person has entered before.
 */
export function formFields(
  schema: JsonObject | undefined,
  given: JsonObject = {},
): Record<string, Field> | undefined {
  if (schema === undefined) return {};
  const { properties, required } = schema;
  if (schema['type'] !== 'object' || !isObject(properties) || hasAlternatives(schema)) {
    return undefined;
  }
  const needed = Array.isArray(required) ? required : [];
  if (needed.some((name) => !Object.hasOwn(properties, name as string))) return undefined;
  const fields = Object.entries(properties).map(([name, property]) => {
    const about = { name, needed: needed.includes(name), given: given[name] };
    return [PREFIX + name, isObject(property) ? fieldOf(property, about) : undefined] as const;
  });
  if (fields.length > MAX_FIELDS || fields.some(([, field]) => field === undefined)) {
    return undefined;
  }
  return Object.fromEntries(fields) as Record<string, Field>;
}

/** The schema of an answer: the decision, a reason, and the fields of the gate's form. */
export const answerSchemaOf = (fields: Record<string, Field>, approve: string): Requested => ({
  type: 'object',
  properties: {
    decision: {
      type: 'string',
      title: 'Decision',
      oneOf: [
        { const: 'approve', title: approve },
        { const: 'reject', title: 'Reject' },
      ],
    },
    ...fields,
    reason: {
      type: 'string',
      title: 'Reason',
      description: 'Optional. Saved with the decision',
      maxLength: MAX_REASON,
    },
  },
  required: ['decision'],
});

const contentSchema = z.looseObject({
  decision: z.enum(['approve', 'reject']),
  reason: z.string().max(MAX_REASON).optional(),
});

export interface PersonsAnswer {
  approved: boolean;
  reason?: string;
  input?: JsonObject;
}

/** The answer in a client's form; undefined if it has no decision. What it says is not trusted: the gate checks it. */
export function answerIn(content: unknown, hasForm: boolean): PersonsAnswer | undefined {
  const { data } = contentSchema.safeParse(content);
  if (data === undefined) return undefined;
  const { decision, reason, ...rest } = data;
  const approved = decision === 'approve';
  const entered = Object.entries(rest).flatMap(([key, value]) =>
    key.startsWith(PREFIX) ? [[key.slice(PREFIX.length), value as Json]] : [],
  );
  return {
    approved,
    ...(reason === undefined || reason.trim() === '' ? {} : { reason: reason.trim() }),
    ...(approved && hasForm ? { input: Object.fromEntries(entered) as JsonObject } : {}),
  };
}

interface About {
  name: string;
  needed: boolean;
  given: Json | undefined;
}

function fieldOf(property: JsonObject, about: About): Field | undefined {
  const { type } = property;
  if (hasAlternatives(property)) return undefined;
  const common = describe(property, about);
  const before = about.given === undefined ? {} : { default: about.given };
  if (Array.isArray(property['enum'])) {
    const texts = textsIn(property);
    if (texts === undefined || (type !== undefined && type !== 'string')) return undefined;
    return { ...common, type: 'string', enum: texts, ...before } as Field;
  }
  if (type === 'array') {
    const { items } = property;
    const texts = isObject(items) && !hasAlternatives(items) ? textsIn(items) : undefined;
    if (texts === undefined) return undefined;
    return { ...common, type: 'array', items: { type: 'string', enum: texts }, ...before } as Field;
  }
  const kept = typeof type === 'string' ? KEPT[type] : undefined;
  if (kept === undefined) return undefined;
  const { format } = property;
  const bounds = kept.filter((key) => typeof property[key] === 'number');
  return {
    ...common,
    type,
    ...Object.fromEntries(bounds.map((key) => [key, property[key]])),
    ...(type === 'string' && FORMATS.includes(format as string) ? { format } : {}),
    ...before,
  } as Field;
}

/** Only an approval needs the field, so the schema of the answer does not require it. */
function describe({ title, description }: JsonObject, { name, needed }: About): JsonObject {
  const texts = [
    ...(typeof description === 'string' ? [description] : []),
    ...(needed ? ['Needed to approve'] : []),
  ];
  return {
    title: typeof title === 'string' ? title : name,
    ...(texts.length === 0 ? {} : { description: texts.join('. ') }),
  };
}

const hasAlternatives = (schema: JsonObject): boolean =>
  COMBINATORS.some((keyword) => Object.hasOwn(schema, keyword));

function textsIn({ enum: values }: JsonObject): string[] | undefined {
  const isText = (value: Json): value is string => typeof value === 'string';
  return Array.isArray(values) && values.every(isText) ? values : undefined;
}
