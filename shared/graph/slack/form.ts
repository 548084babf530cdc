import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { type Block, plain } from './text.ts';

/** What Slack can show: blocks in a modal, options of a list, and characters of an option, a label and a text. */
const MAX_FIELDS = 20;
const MAX_OPTIONS = 100;
const MAX_OPTION = 75;
const MAX_LABEL = 150;
const MAX_HINT = 150;
const MAX_VALUE = 3_000;
/** From which length on a text gets several lines. */
const LONG = 200;

/** The action of every input of a modal. */
export const VALUE = 'value';

/** One field of a form. `options`: the values that it can have. */
export interface FormField {
  name: string;
  kind: 'text' | 'number' | 'integer' | 'date' | 'options';
  label: string;
  hint: string | undefined;
  required: boolean;
  multiline: boolean;
  options: readonly Json[];
  preset: Json | undefined;
}

/**
 * The fields of a form, if Slack can show it: texts, numbers, dates, yes or no, and lists of values. Undefined for
 * everything else.
 */
export function formFields(schema: JsonObject): FormField[] | undefined {
  const { properties, required } = schema;
  const names = isObject(properties) ? Object.keys(properties) : [];
  if (names.length > MAX_FIELDS || !isPlain(schema)) return undefined;
  const needed = Array.isArray(required) ? required : [];
  if (needed.some((name) => typeof name !== 'string' || !names.includes(name))) return undefined;
  const fields = names.map((name) =>
    fieldOf(name, (properties as JsonObject)[name], needed.includes(name)),
  );
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

/** Keywords that decide which values belong together, or are elsewhere. */
const OTHERS = ['$ref', '$dynamicRef', 'anyOf', 'oneOf', 'allOf', 'not', 'if', 'dependentSchemas'];

const isPlain = (schema: JsonObject): boolean => OTHERS.every((name) => !(name in schema));

function fieldOf(name: string, schema: Json | undefined, required: boolean): FormField | undefined {
  if (!isObject(schema) || !isPlain(schema)) return undefined;
  const { type, title, description, enum: values, format, maxLength, default: preset } = schema;
  const field = {
    name,
    label: typeof title === 'string' && title !== '' ? title : name,
    hint: typeof description === 'string' && description !== '' ? description : undefined,
    required,
    multiline: type === 'string' && !(typeof maxLength === 'number' && maxLength <= LONG),
    options: [],
    preset,
  };
  if (values !== undefined || type === 'boolean') {
    const options: Json[] =
      type === 'boolean' && values === undefined ? [true, false] : listOf(values);
    const fits = options.length > 0 && options.length <= MAX_OPTIONS && options.every(isScalar);
    return fits ? { ...field, kind: 'options', options } : undefined;
  }
  if (type === 'integer' || type === 'number') return { ...field, kind: type };
  if (type !== 'string') return undefined;
  return { ...field, kind: format === 'date' ? 'date' : 'text' };
}

const listOf = (values: Json | undefined): Json[] => (Array.isArray(values) ? values : []);

const isScalar = (value: Json): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** The block of the field at this position. Names can be longer than what Slack takes. */
const fieldBlock = (at: number): string => `field-${at}`;

/** The inputs of a form. `values`: what was entered before. */
export const fieldBlocks = (fields: readonly FormField[], values: JsonObject): Block[] =>
  fields.map((field, at) => ({
    type: 'input',
    block_id: fieldBlock(at),
    label: plain(field.label, MAX_LABEL),
    ...(field.hint === undefined ? {} : { hint: plain(field.hint, MAX_HINT) }),
    optional: !field.required,
    element: elementOf(field, values[field.name] ?? field.preset),
  }));

function elementOf({ kind, multiline, options }: FormField, value: Json | undefined): JsonObject {
  if (kind === 'options') {
    const all = options.map(optionOf);
    const at = value === undefined ? -1 : options.indexOf(value);
    const initial = all[at];
    return {
      type: 'static_select',
      action_id: VALUE,
      options: all,
      ...(initial === undefined ? {} : { initial_option: initial }),
    };
  }
  if (kind === 'date') {
    const isDate = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value);
    return { type: 'datepicker', action_id: VALUE, ...(isDate ? { initial_date: value } : {}) };
  }
  const given = textOf(value ?? null);
  const initial: JsonObject =
    given === '' || given.length > MAX_VALUE ? {} : { initial_value: given };
  if (kind === 'text') return { type: 'plain_text_input', action_id: VALUE, multiline, ...initial };
  return {
    type: 'number_input',
    action_id: VALUE,
    is_decimal_allowed: kind === 'number',
    ...(typeof value === 'number' ? initial : {}),
  };
}

const textOf = (value: Json): string => (isScalar(value) ? String(value) : '');

const optionOf = (value: Json, at: number): JsonObject => ({
  text: plain(value === true ? 'Yes' : value === false ? 'No' : textOf(value), MAX_OPTION),
  value: String(at),
});

/** What was entered: the input, and what is wrong with it, by block. `read`: the text of a block. */
export function readFields(
  fields: readonly FormField[],
  read: (block: string) => string | undefined,
): { input: JsonObject; problems: Record<string, string> } {
  const entries: [string, Json][] = [];
  const problems: Record<string, string> = {};
  for (const [at, field] of fields.entries()) {
    const block = fieldBlock(at);
    const text = read(block);
    if (text === undefined || text === '') continue;
    const value = valueOf(field, text);
    if (value === undefined) problems[block] = 'Must be a number';
    else entries.push([field.name, value]);
  }
  return { input: Object.fromEntries(entries), problems };
}

function valueOf({ kind, options }: FormField, text: string): Json | undefined {
  if (kind === 'options') return options[Number(text)];
  if (kind === 'text' || kind === 'date') return text;
  const value = Number(text);
  return text.trim() !== '' && Number.isFinite(value) ? value : undefined;
}

/** The fields that a refusal names (`input.amount must be…`), by block. */
export function fieldProblems(
  fields: readonly FormField[],
  refusal: string,
): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const part of refusal.replace(/^Invalid input: /, '').split('; ')) {
    const at = fields.findIndex(({ name }) => part.startsWith(`input.${name} `));
    if (at >= 0) problems[fieldBlock(at)] ??= part.slice('input.'.length);
  }
  return problems;
}
