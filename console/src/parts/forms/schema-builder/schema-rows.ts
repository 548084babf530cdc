import type { JsonObject } from '#client/index.ts';
import { isRecord, type JsonRecord } from '#console/src/parts/data/record.ts';

export const rowTypes = [
  'text',
  'number',
  'whole',
  'flag',
  'date',
  'choice',
  'list',
  'object',
] as const;

/** `json`: a property that rows cannot show, so that it is edited as JSON. */
export type RowType = (typeof rowTypes)[number] | 'json';

/** One property of a schema, as a row. */
export interface SchemaRow {
  key: number;
  name: string;
  type: RowType;
  required: boolean;
  /** The title; empty if there is none. */
  label: string;
  /** The description; empty if there is none. */
  help: string;
  /** The default; undefined if there is none. */
  start: unknown;
  /** Of a choice. */
  choices: readonly string[];
  /** Of an object. */
  rows: readonly SchemaRow[];
  /** The property as it was read. What the row does not show is kept. */
  property: unknown;
}

let lastKey = 0;

export const newRow = (): SchemaRow => ({
  key: ++lastKey,
  name: '',
  type: 'text',
  required: false,
  label: '',
  help: '',
  start: undefined,
  choices: [],
  rows: [],
  property: {},
});

/** The keywords of an object that its rows show. */
const SHOWN = new Set(['type', 'properties', 'required']);

/** The rows of an object's schema, in its order; undefined if only JSON can show it. No schema has no rows. */
export function rowsOfSchema(schema: unknown): SchemaRow[] | undefined {
  if (schema === undefined) return [];
  if (!isObjectSchema(schema)) return undefined;
  const required = namesIn(schema['required']);
  return Object.entries(schema['properties'] ?? {}).map(([name, property]) => ({
    ...newRow(),
    ...aspectsOf(property),
    name,
    required: required.includes(name),
    property,
  }));
}

/** The keywords of a schema that its rows do not show. */
export const otherKeywords = (schema: unknown): string[] =>
  isRecord(schema) ? Object.keys(schema).filter((keyword) => !SHOWN.has(keyword)) : [];

/**
 * The schema with these rows; keywords that rows do not show stay as they are in `schema`. Rows without a name, or with
 * the name of an earlier row, are left out. Undefined if nothing is left.
 */
export function schemaOfRows(
  rows: readonly SchemaRow[],
  schema: JsonObject | undefined,
): JsonObject | undefined {
  const written = writtenOf(rows);
  if (written.length === 0 && otherKeywords(schema).length === 0) return undefined;
  return objectOf(written, schema ?? { type: 'object' });
}

function objectOf(rows: readonly SchemaRow[], schema: JsonRecord): JsonRecord {
  const { required: given, ...others } = schema;
  const before = isRecord(schema['properties']) ? Object.keys(schema['properties']) : [];
  const names = rows.filter(({ required }) => required).map(({ name }) => name);
  // Names of no property are required, too.
  const elsewhere = namesIn(given).filter((name) => !before.includes(name));
  const required = inOrder([...elsewhere, ...names], namesIn(given));
  const properties = Object.fromEntries(rows.map((row) => [row.name, propertyOf(row)]));
  return {
    ...others,
    ...((rows.length > 0 || 'properties' in schema) && { properties }),
    ...((required.length > 0 || given !== undefined) && { required }),
  };
}

/** The names as they were, if they are the same in another order. */
function inOrder(names: string[], given: readonly string[]): readonly string[] {
  const wanted = [...new Set(names)];
  return wanted.length === new Set(given).size && wanted.every((name) => given.includes(name))
    ? given
    : wanted;
}

type Aspects = Pick<SchemaRow, 'type' | 'label' | 'help' | 'start' | 'choices' | 'rows'>;

/** What a row shows of a property. */
function aspectsOf(property: unknown): Aspects {
  const own = isRecord(property) ? property : {};
  const type = typeOf(property);
  return {
    type,
    label: textOf(own['title']),
    help: textOf(own['description']),
    start: own['default'],
    choices: type === 'choice' ? textsIn(own['enum']) : [],
    rows: type === 'object' ? (rowsOfSchema(property) ?? []) : [],
  };
}

/** The property of a row: what it was read from, with what has changed in the row. */
function propertyOf(row: SchemaRow): unknown {
  const { property, type, label, help, start, choices, rows } = row;
  const before = aspectsOf(property);
  const own = isRecord(property) ? property : {};
  const isSame =
    type === before.type &&
    label === before.label &&
    help === before.help &&
    start === before.start &&
    choices.join('\n') === before.choices.join('\n');
  if (isSame && type !== 'object') return property;
  let next: JsonRecord = type === before.type ? own : { ...sharedOf(own), ...keywordsOf[type] };
  if (type === 'choice') next = withChoices(next, choices);
  if (type === 'object') next = objectOf(writtenOf(rows), next);
  return withTexts(next, { title: label, description: help, default: start }, before);
}

/** A list of choices has at least one. */
function withChoices({ enum: _, ...others }: JsonRecord, choices: readonly string[]): JsonRecord {
  return choices.length === 0 ? others : { ...others, enum: choices };
}

const writtenOf = (rows: readonly SchemaRow[]): SchemaRow[] =>
  rows.filter(({ name }, at) => name !== '' && firstWith(rows, name) === at);

function withTexts(
  property: JsonRecord,
  given: { title: string; description: string; default: unknown },
  before: Aspects,
): JsonRecord {
  const changed: [string, unknown][] = [
    ...(given.title === before.label ? [] : [['title', given.title] as [string, unknown]]),
    ...(given.description === before.help
      ? []
      : [['description', given.description] as [string, unknown]]),
    ...(given.default === before.start ? [] : [['default', given.default] as [string, unknown]]),
  ];
  const next = { ...property, ...Object.fromEntries(changed) };
  return Object.fromEntries(
    Object.entries(next).filter(
      ([keyword, value]) =>
        !changed.some(([name]) => name === keyword) || (value !== '' && value !== undefined),
    ),
  );
}

/** What stays of a property when its type changes. */
const sharedOf = ({ title, description }: JsonRecord): JsonRecord => ({
  ...(title !== undefined && { title }),
  ...(description !== undefined && { description }),
});

/** The keywords of a new property of each type. */
const keywordsOf: Record<RowType, JsonRecord> = {
  text: { type: 'string' },
  number: { type: 'number' },
  whole: { type: 'integer' },
  flag: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  choice: { type: 'string' },
  list: { type: 'array', items: { type: 'string' } },
  object: { type: 'object' },
  json: {},
};

function typeOf(property: unknown): RowType {
  if (!isRecord(property)) return 'json';
  const { enum: values, format, items } = property;
  const type = onlyType(property);
  if (values !== undefined) {
    const isText = type === undefined || type === 'string';
    return isText && isTexts(values) && values.length > 0 ? 'choice' : 'json';
  }
  switch (type) {
    case 'string':
      return format === 'date' ? 'date' : 'text';
    case 'number':
      return 'number';
    case 'integer':
      return 'whole';
    case 'boolean':
      return 'flag';
    case 'array':
      return onlyType(items) === 'string' ? 'list' : 'json';
    case 'object':
      return isObjectSchema(property) ? 'object' : 'json';
    default:
      return 'json';
  }
}

/** The only type besides `null`. */
function onlyType(schema: unknown): unknown {
  if (!isRecord(schema)) return undefined;
  const { type } = schema;
  if (!Array.isArray(type)) return type;
  const types: unknown[] = type.filter((each) => each !== 'null');
  return types.length === 1 ? types[0] : undefined;
}

type ObjectSchema = JsonRecord & { properties?: JsonRecord; required?: string[] };

function isObjectSchema(schema: unknown): schema is ObjectSchema {
  if (!isRecord(schema)) return false;
  const { type, properties, required } = schema;
  return (
    (type === undefined || onlyType(schema) === 'object') &&
    // A row without a name is one that is not finished.
    (properties === undefined || (isRecord(properties) && !Object.hasOwn(properties, ''))) &&
    (required === undefined || isTexts(required))
  );
}

/** Why a row is not part of the schema, or cannot be read by its name. */
export type RowProblem = 'noName' | 'twice' | 'unreadable' | 'noChoices';

/** A name that texts can refer to. */
const NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

export function problemOfRow(rows: readonly SchemaRow[], at: number): RowProblem | undefined {
  const row = rows[at];
  if (row === undefined) return undefined;
  if (row.name === '') return 'noName';
  if (firstWith(rows, row.name) < at) return 'twice';
  if (!NAME.test(row.name)) return 'unreadable';
  return row.type === 'choice' && row.choices.length === 0 ? 'noChoices' : undefined;
}

const firstWith = (rows: readonly SchemaRow[], name: string): number =>
  rows.findIndex((row) => row.name === name);

/** The row of another property under the same name. */
export const withProperty = (row: SchemaRow, property: unknown): SchemaRow => ({
  ...row,
  ...aspectsOf(property),
  property,
});

/** The row with another type. A default of the old type goes. */
export const withType = (row: SchemaRow, type: RowType): SchemaRow => ({
  ...row,
  type,
  start: undefined,
});

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
const textsIn = (value: unknown): string[] => (isTexts(value) ? value : []);
const namesIn = textsIn;
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
