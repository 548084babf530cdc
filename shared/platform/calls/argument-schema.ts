import type { Ajv, AnySchema, ErrorObject, Options } from 'ajv';
import { createBoundedCache } from '#shared/values/bounded-cache.ts';
import { checkPattern, matchesPattern } from '#shared/values/pattern.ts';
import { isDeeperThan, type Json, type JsonObject } from '#shared/json.ts';
import { DialectError, readSchema, type Validator, validatorOf } from './schema-dialect.ts';
import { comparing } from './schema-comparisons.ts';
import { toRe2 } from '#shared/values/schema-pattern.ts';

/** The maximum length of a schema as JSON, in characters, and its maximum nesting depth. */
const MAX_SCHEMA_LENGTH = 65_536;
const MAX_SCHEMA_DEPTH = 40;
const MAX_MESSAGE = 500;

/** A schema that is invalid, or exceeds the limits. The message is for its author. */
export class ArgumentSchemaError extends Error {
  override readonly name = 'ArgumentSchemaError';
}

/** The errors of a value; empty when it is valid. */
type Judge = (value: Json) => readonly ErrorObject[];

/**
 * `first`: stops at the first error, because looking for more would let one value cause unlimited work. `all`, for
 * small values: all errors, with their data.
 */
type Errors = 'first' | 'all';

const compiled = createBoundedCache<string, Judge>(200);

/**
 * Checks a schema. A schema of a few lines can cause work that doubles with each line: only call this where it can be
 * stopped (`untrusted`), never on a shared thread.
 *
 * Throws ArgumentSchemaError for an unusable schema.
 */
export function checkArgumentSchema(schema: JsonObject): void {
  judgeFor(schema, 'first');
}

/**
 * Why arguments do not match a JSON Schema, starting with the path of the first problem; undefined when they do. There
 * is no coercion and there are no defaults; `format` is ignored. Throws ArgumentSchemaError.
 */
export function argumentsProblem(schema: JsonObject, args: JsonObject): string | undefined {
  const [error] = schemaErrors(schema, args, 'first');
  return error === undefined ? undefined : problemOf(error);
}

/** Why a value does not match a schema; empty when it does. Throws ArgumentSchemaError. */
export function schemaErrors(
  schema: JsonObject,
  value: Json,
  errors: Errors,
): readonly ErrorObject[] {
  return judgeFor(schema, errors)(value);
}

function judgeFor(schema: JsonObject, errors: Errors): Judge {
  const text = JSON.stringify(schema);
  if (text.length > MAX_SCHEMA_LENGTH) {
    throw new ArgumentSchemaError(`is longer than ${MAX_SCHEMA_LENGTH} characters`);
  }
  return compiled(`${errors} ${text}`, () => compile(schema, errors));
}

function compile(schema: JsonObject, errors: Errors): Judge {
  if (isDeeperThan(schema, MAX_SCHEMA_DEPTH)) {
    throw new ArgumentSchemaError(`has more than ${MAX_SCHEMA_DEPTH} levels`);
  }
  // Its validator would return a promise, which is truthy.
  if (Object.hasOwn(schema, '$async')) throw new ArgumentSchemaError("'$async' is not supported");
  const all = errors === 'all';
  const validate = attempt('is not a valid JSON Schema', () => {
    const { validator, schema: read } = readSchema(schema);
    const grammar = grammarFor(validator);
    if (grammar.validateSchema(read as AnySchema) !== true) {
      throw new Error((grammar.errors ?? []).map(grammarErrorText).join(', '));
    }
    const ajv = new validator({
      ...OPTIONS,
      validateSchema: false,
      allErrors: all,
      verbose: all,
    });
    return comparing(ajv).compile(read as AnySchema);
  });
  return (value) => {
    const fits = attempt('cannot be applied to the value', () => validate(value) === true);
    return fits ? [] : (validate.errors ?? [UNNAMED]);
  };
}

/** What is wrong with a schema itself. A list of values is more useful than the fact that there is one. */
function grammarErrorText({ instancePath, message = '', keyword, params }: ErrorObject): string {
  const { allowedValues } = params as { allowedValues?: unknown[] };
  const values = keyword === 'enum' ? ` (${(allowedValues ?? []).join(', ')})` : '';
  return `schema${instancePath} ${message}${values}`;
}

/** An error without a description. */
const UNNAMED: ErrorObject = { instancePath: '', schemaPath: '', keyword: '', params: {} };

const OPTIONS: Options = {
  strict: false,
  $data: false,
  validateFormats: false,
  // Names such as 'constructor' are ordinary property names.
  ownProperties: true,
  // Code inlined for each reference can become much larger than the schema.
  inlineRefs: false,
  logger: false,
  code: {
    // Schemas of many properties compile faster this way, and few are used twice before they are evicted.
    optimize: false,
    process: (code) => mendEvaluated(code),
    regExp: Object.assign(
      (pattern: string) => {
        const re2 = toRe2(pattern);
        checkPattern(re2);
        // Ajv identifies patterns by their text.
        return { test: (text: string) => matchesPattern(text, re2), toString: () => pattern };
      },
      { code: 're2' },
    ),
  },
};

/**
 * Mends what counts as evaluated: in an object, property names, without inherited ones; in a list, the number of items,
 * which is `true` for all and undefined for none.
 */
const mendEvaluated = (code: string): string =>
  code
    .replaceAll(/!(props\d+) \|\| !\1\[(key\d+)\]/g, '!$1 || !Object.hasOwn($1, $2)')
    .replaceAll(/\b(len\d+) > (items\d+)\b/g, '$2 !== true && $1 > ($2 ?? 0)')
    .replaceAll(/\b(len\d+) <= (items\d+)\b/g, '($2 === true || $1 <= ($2 ?? 0))')
    .replaceAll(/\b(i\d+)=(items\d+);/g, '$1=$2 ?? 0;');

/**
 * The validator for schemas of a draft. It is created once, because compiling it takes longer than compiling most
 * schemas.
 */
const grammarOf = createBoundedCache<Validator, Ajv>(3);
const grammarFor = (validator: Validator): Ajv =>
  grammarOf(validator, () => {
    const grammar = new validator(OPTIONS);
    void grammar.validateSchema({});
    return grammar;
  });

/** Keywords that only describe, or that are the targets of references, in any draft. */
const NAMES = new Set([
  ...['$schema', '$id', 'id', '$anchor', '$dynamicAnchor', '$dynamicRef', '$recursiveAnchor'],
  ...['$vocabulary', '$comment', '$defs', 'definitions', 'title', 'description', 'default'],
  ...['examples', 'deprecated', 'readOnly', 'writeOnly', 'format', 'contentEncoding'],
  ...['contentMediaType', 'contentSchema'],
]);

/** Whether a name is one of the keywords of the schema's draft. Throws ArgumentSchemaError for an unknown draft. */
export function keywordsOf(schema: JsonObject): (name: string) => boolean {
  const grammar = grammarFor(attempt('is not a valid JSON Schema', () => validatorOf(schema)));
  return (name) => NAMES.has(name) || grammar.RULES.keywords[name] !== undefined;
}

/** Every error is caused by the schema: it is too deep for the stack, or has a broken reference. */
function attempt<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof DialectError) {
      throw new ArgumentSchemaError(error.message, { cause: error });
    }
    const reason =
      error instanceof RangeError ? 'it refers to itself endlessly' : messageFor(error);
    throw new ArgumentSchemaError(`${what}: ${reason}`, { cause: error });
  }
}

const messageFor = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, MAX_MESSAGE);

function problemOf(error: ErrorObject): string {
  const path = ['arguments', ...pathOf(error)];
  const extra = extraOf(error);
  const text = extra === undefined ? (error.message ?? 'is invalid') : `must not have '${extra}'`;
  return `${path.join('.')} ${text}`.slice(0, MAX_MESSAGE).toWellFormed();
}

/** The path from the value to the part that an error is about. */
export const pathOf = ({ instancePath }: ErrorObject): string[] =>
  instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The key that must not be there, according to an error. */
export function extraOf({ params }: ErrorObject): string | undefined {
  const extra: unknown = params['additionalProperty'] ?? params['unevaluatedProperty'];
  return typeof extra === 'string' ? extra : undefined;
}
