import type { ErrorObject } from 'ajv';
import { memberOf, typeName, weighJson } from '#shared/graph/json-value.ts';
import { hint } from '#shared/graph/suggest.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { schemasIn } from '#shared/values/schema-parts.ts';
import { contradictionIn } from './contradictions.ts';
import {
  ArgumentSchemaError,
  checkArgumentSchema,
  extraOf,
  keywordsOf,
  pathOf,
  schemaErrors,
} from './argument-schema.ts';

/**
 * Input from people: for a run, or for a decision at a gate. The validator and its limits are those of tools'
 * arguments.
 */

/** The maximum number of problems in a refusal. */
const MAX_PROBLEMS = 10;
const MAX_PROBLEM = 300;
const MAX_LISTED = 10;
const MAX_NAMES = 200;
/** All problems are reported for inputs with up to this many values; for larger inputs, only the first. */
const SMALL_INPUT = 2_000;

/**
 * Checks a schema that people write: it must describe an object, a misspelled keyword is an error, and so is a schema
 * that obviously no input can match. Only call this where it can be stopped, like `checkArgumentSchema`. Throws
 * ArgumentSchemaError.
 */
export function checkInputSchema(schema: JsonObject): void {
  if (Object.hasOwn(schema, 'type') && schema['type'] !== 'object') {
    throw new ArgumentSchemaError("must have the type 'object', because an input is an object");
  }
  checkArgumentSchema(schema);
  const isKeyword = keywordsOf(schema);
  for (const { path, schema: part } of schemasIn(schema)) {
    const name = Object.keys(part).find((key) => !isKeyword(key) && !key.startsWith('x-'));
    if (name === undefined) continue;
    const meant = hint(name, KEYWORDS);
    const place = ['input_schema', ...path].join('.');
    throw new ArgumentSchemaError(
      `has an unsupported keyword '${name}' at ${place}${meant === '' ? '; remove it' : meant}`,
    );
  }
  const contradiction = contradictionIn(schema);
  if (contradiction !== undefined) {
    throw new ArgumentSchemaError(`fits no input, since ${contradiction}`);
  }
}

/** Common keywords, for suggestions. */
const KEYWORDS = [
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'title'],
  ...['description', 'default', 'examples', 'minimum', 'maximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'pattern', 'format', 'anyOf', 'oneOf', 'allOf', 'uniqueItems'],
];

/**
 * Why a value does not match a schema, as one text: each problem with its path, which begins with `root`, if any, and
 * what to do. Undefined when it matches. Throws ArgumentSchemaError.
 */
export function inputProblem(schema: JsonObject, value: Json, root = 'input'): string | undefined {
  const first = schemaErrors(schema, value, 'first');
  if (first.length === 0) return undefined;
  const small = weighJson(value, SMALL_INPUT).values <= SMALL_INPUT;
  const errors = small ? withoutBranches(schemaErrors(schema, value, 'all')) : first.slice(0, 1);
  const problems = [...new Set(errors.map((error) => problemOf(error, value, root)))];
  const more = problems.length - MAX_PROBLEMS;
  return `${problems.slice(0, MAX_PROBLEMS).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** Without the errors inside a choice: each branch has some, and the choice has its own. */
function withoutBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const choices = errors.filter(({ keyword }) => CHOICES.has(keyword));
  return errors.filter(
    ({ schemaPath }) => !choices.some((choice) => schemaPath.startsWith(`${choice.schemaPath}/`)),
  );
}

const CHOICES = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames', 'if']);

function problemOf(error: ErrorObject, value: Json, root: string): string {
  const path = pathOf(error);
  const named = (...names: string[]): string =>
    [root, ...path, ...names].filter((name) => name !== '').join('.');
  const missing: unknown = error.params['missingProperty'];
  const extra = extraOf(error);
  const text =
    typeof missing === 'string'
      ? `${named(missing)} is missing: add it`
      : extra !== undefined
        ? `${named(extra)} is not a field of the schema${hint(extra, namesOf(error)) || ': remove it'}`
        : `${named() || 'it'} ${wordingOf(error, partAt(value, path))}`;
  return text.length > MAX_PROBLEM ? `${text.slice(0, MAX_PROBLEM)}…`.toWellFormed() : text;
}

/** The fields of the object that has an unknown one. */
function namesOf({ parentSchema }: ErrorObject): string[] {
  const properties: unknown = parentSchema?.['properties'];
  return Object.keys(typeof properties === 'object' && properties !== null ? properties : {}).slice(
    0,
    MAX_NAMES,
  );
}

const partAt = (value: Json, path: readonly string[]): Json | undefined =>
  path.reduce<Json | undefined>(
    (part, key) =>
      part === undefined ? undefined : memberOf(part, Array.isArray(part) ? Number(key) : key),
    value,
  );

function wordingOf({ keyword, params, message }: ErrorObject, part: Json | undefined): string {
  const limit = String(params['limit']);
  switch (keyword) {
    case 'type': {
      const types = [params['type'] as string | string[]].flat().map(articled);
      return `must be ${types.join(' or ')}${part === undefined ? '' : `, not ${articled(typeName(part))}`}`;
    }
    case 'enum':
      return `must be one of ${listed(params['allowedValues'] as Json[])}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'minLength':
      return `must have at least ${limit} characters`;
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return `must have at least ${limit} items`;
    case 'maxItems':
      return `must have at most ${limit} items`;
    case 'pattern':
      return `must match the pattern ${String(params['pattern'])}`;
    case 'anyOf':
    case 'oneOf':
      return 'must fit one of the forms that the schema lists';
    case 'propertyNames':
      return `must not have the field '${String(params['propertyName'])}': its name does not fit the schema`;
    case 'false schema':
      return 'is not allowed: remove it';
    default:
      return message ?? 'does not fit the schema';
  }
}

function listed(values: readonly Json[]): string {
  const shown = values.slice(0, MAX_LISTED).map((value) => JSON.stringify(value));
  return values.length > MAX_LISTED ? `${shown.join(', ')}, ...` : shown.join(', ');
}

const WORDS: Record<string, string> = {
  integer: 'a whole number',
  string: 'a text',
  array: 'a list',
  list: 'a list',
  object: 'an object',
  null: 'null',
  boolean: 'true or false',
};

const articled = (type: string): string => WORDS[type] ?? `a ${type}`;
