import type { JsonObject } from '#client/index.ts';
import { schemaForm as texts } from '#console/src/messages/en/parts/fields.ts';
import { isRecord } from '#console/src/parts/data/record.ts';

/** How a property of a JSON Schema is entered. `json` is for all other properties. */
type SchemaInput =
  | { input: 'text'; type: 'text' | 'date' | 'email' | 'url' }
  | { input: 'choice'; choices: readonly unknown[] }
  | { input: 'number'; whole: boolean; least?: number; most?: number }
  | { input: 'flag' }
  | { input: 'names' }
  | { input: 'group'; fields: readonly SchemaField[] }
  | { input: 'json' };

export type SchemaField = SchemaInput & {
  name: string;
  label: string;
  hint: string | undefined;
  required: boolean;
};

/** More properties than this are edited as JSON. */
const MAX_FIELDS = 40;
/** Nesting levels of groups. */
const MAX_GROUPS = 3;

/** The fields for the properties of a schema, in its order; undefined when only JSON can be entered. */
export function fieldsOfSchema(schema: unknown, depth = 0): SchemaField[] | undefined {
  if (!isRecord(schema) || !isRecord(schema['properties'])) return undefined;
  const properties = Object.entries(schema['properties']);
  if (properties.length === 0 || properties.length > MAX_FIELDS) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return properties.map(([name, property]) => ({
    ...inputOf(property, depth),
    name,
    label: textAt(property, 'title') ?? name,
    hint: textAt(property, 'description'),
    required: required.includes(name),
  }));
}

/** The initial value of the form: the schema's defaults, and `false` for required checkboxes, which look unchecked. */
export function startOfSchema(schema: unknown): JsonObject {
  const fields = fieldsOfSchema(schema) ?? [];
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
  const start = fields.flatMap(({ name, input, required }): [string, unknown][] => {
    const property = properties[name];
    if (isRecord(property) && property['default'] !== undefined) {
      return [[name, property['default']]];
    }
    if (input === 'flag' && required) return [[name, false]];
    if (input !== 'group') return [];
    const inner = startOfSchema(property);
    return required || Object.keys(inner).length > 0 ? [[name, inner]] : [];
  });
  return Object.fromEntries(start);
}

/** How a value at a path within a schema is entered, if the schema says so for a value like this one. */
export function fieldAt(
  schema: unknown,
  at: readonly (string | number)[],
  value: unknown,
): SchemaField {
  const own = at.reduce<unknown>((outer, part) => {
    if (!isRecord(outer)) return undefined;
    if (typeof part === 'number') return outer['items'];
    return isRecord(outer['properties']) ? outer['properties'][part] : undefined;
  }, schema);
  const field = {
    name: String(at.at(-1)),
    label: '',
    hint: textAt(own, 'description'),
    required: false,
  };
  const wanted = inputOf(own, MAX_GROUPS);
  return { ...(fits(wanted, value) ? wanted : inputOfValue(value)), ...field };
}

const fits = (wanted: SchemaInput, value: unknown): boolean =>
  value === undefined ||
  (wanted.input === 'choice'
    ? wanted.choices.includes(value)
    : wanted.input !== 'json' && wanted.input === inputOfValue(value).input);

function inputOfValue(value: unknown): SchemaInput {
  switch (typeof value) {
    case 'string':
      return { input: 'text', type: 'text' };
    case 'number':
      return { input: 'number', whole: false };
    case 'boolean':
      return { input: 'flag' };
    default:
      return { input: 'json' };
  }
}

function inputOf(property: unknown, depth: number): SchemaInput {
  if (!isRecord(property)) return { input: 'json' };
  const { enum: choices, const: only } = property;
  if (isListOfScalars(choices)) return { input: 'choice', choices };
  if (only !== undefined && isScalar(only)) return { input: 'choice', choices: [only] };
  switch (typeOf(property)) {
    case 'string':
      return { input: 'text', type: textTypes[String(property['format'])] ?? 'text' };
    case 'boolean':
      return { input: 'flag' };
    case 'integer':
    case 'number':
      return {
        input: 'number',
        whole: typeOf(property) === 'integer',
        ...boundOf(property, 'minimum', 'least'),
        ...boundOf(property, 'maximum', 'most'),
      };
    case 'array':
      return { input: typeOf(property['items']) === 'string' ? 'names' : 'json' };
    case 'object': {
      const fields = depth < MAX_GROUPS ? fieldsOfSchema(property, depth + 1) : undefined;
      return fields === undefined ? { input: 'json' } : { input: 'group', fields };
    }
    default:
      return { input: 'json' };
  }
}

const textTypes: Partial<Record<string, 'date' | 'email' | 'url'>> = {
  date: 'date',
  email: 'email',
  uri: 'url',
};

/** The only type besides `null`. */
function typeOf(schema: unknown): unknown {
  if (!isRecord(schema)) return undefined;
  const { type } = schema;
  if (!Array.isArray(type)) return type;
  const types: unknown[] = type.filter((each) => each !== 'null');
  return types.length === 1 ? types[0] : undefined;
}

const boundOf = (schema: Record<string, unknown>, keyword: string, name: 'least' | 'most') =>
  typeof schema[keyword] === 'number' ? { [name]: schema[keyword] } : {};

const textAt = (schema: unknown, keyword: string): string | undefined => {
  const text = isRecord(schema) ? schema[keyword] : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
};

const isScalar = (value: unknown): boolean => value === null || typeof value !== 'object';

const isListOfScalars = (values: unknown): values is unknown[] =>
  Array.isArray(values) && values.length > 0 && values.every(isScalar);

/**
 * What an error says about the fields of a form, with their labels: `Cost center is required.` Undefined if it is about
 * something else.
 */
export function problemsInWords(refusal: string, schema: unknown): string | undefined {
  const fields = fieldsOfSchema(schema) ?? [];
  const [, all = ''] = /^Invalid [a-z]+: (.+)$/s.exec(refusal) ?? [];
  const problems = all.split('; ').map((problem) => {
    const [, name = '', rest = ''] = /^[a-z]+\.([^\s.]+) (.+)$/s.exec(problem) ?? [];
    const field = fields.find((each) => each.name === name);
    if (field === undefined) return undefined;
    return rest.startsWith('is missing')
      ? texts.isRequired(field.label)
      : texts.problem(field.label, rest);
  });
  return problems.includes(undefined) ? undefined : problems.join(' ');
}

/**
 * The part of an error that is about one field. The service identifies problems by path, like `input.amount must be
 * integer; input.payee is missing: add it`, or the first one as `input must have required property 'amount'`. `path`
 * starts with the name of the root.
 */
export function problemOfField(
  refusal: string | undefined,
  path: readonly string[],
): string | undefined {
  if (refusal === undefined) return undefined;
  const name = path.at(-1) ?? '';
  const missing = `${path.slice(0, -1).join('.')} must have required property '${name}'`;
  if (refusal.includes(missing)) return texts.required;
  const place = path.join('.');
  const at = ` ${refusal}`.indexOf(` ${place}`);
  const [after = ''] = at < 0 ? [] : refusal.slice(at + place.length).split('; ');
  if (after.startsWith(' is missing')) return texts.required;
  return after.startsWith(' ') || after.startsWith('.') ? `${name}${after}` : undefined;
}
