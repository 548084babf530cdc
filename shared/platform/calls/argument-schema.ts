import { Ajv, type AnySchema, type ErrorObject, type Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { createBoundedCache } from '../../values/bounded-cache.ts';
import { checkPattern, matchesPattern } from '../../values/pattern.ts';
import { isDeeperThan, type JsonObject } from '../../json.ts';

/** Characters of a schema as JSON, and its nesting depth. */
const MAX_SCHEMA_LENGTH = 65_536;
const MAX_SCHEMA_DEPTH = 40;
const MAX_MESSAGE = 500;

/** A schema that is invalid, or exceeds the limits. The message is for its author. */
export class ArgumentSchemaError extends Error {
  override readonly name = 'ArgumentSchemaError';
}

/** The errors of a value: none when it fits. */
type Judge = (value: JsonObject) => readonly ErrorObject[];

/** `first`: looking for more would let one value cause unlimited work. `all`, for small values: each, with its data. */
type Errors = 'first' | 'all';

const compiled = createBoundedCache<string, Judge>(200);

/**
 * A schema of a few lines can cause work that doubles with each of them: call this where it can be stopped
 * (`untrusted`), never on a shared thread.
 *
 * Throws ArgumentSchemaError for an unusable schema.
 */
export function checkArgumentSchema(schema: JsonObject): void {
  judgeFor(schema, 'first');
}

/**
 * Why arguments do not fit a JSON Schema, starting with the path of the first problem; undefined when they do. Without
 * coercion and defaults; `format` is ignored. Throws ArgumentSchemaError.
 */
export function argumentsProblem(schema: JsonObject, args: JsonObject): string | undefined {
  const [error] = schemaErrors(schema, args, 'first');
  return error === undefined ? undefined : problemOf(error);
}

/** Why a value does not fit a schema; empty when it does. Throws ArgumentSchemaError. */
export function schemaErrors(
  schema: JsonObject,
  value: JsonObject,
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
  // Its validator would return a promise, which is not false.
  if (Object.hasOwn(schema, '$async')) throw new ArgumentSchemaError("'$async' is not supported");
  const dialect = dialectOf(schema);
  const grammar = grammarFor(dialect);
  const all = errors === 'all';
  const options = { ...OPTIONS, validateSchema: false, allErrors: all, verbose: all };
  const validate = attempt('is not a valid JSON Schema', () => {
    if (grammar.validateSchema(schema as AnySchema) !== true) {
      throw new Error(grammar.errorsText(grammar.errors, { dataVar: 'schema' }));
    }
    return new dialect(options).compile(schema as AnySchema);
  });
  return (value) => {
    const fits = attempt('cannot be applied to the value', () => validate(value) === true);
    return fits ? [] : (validate.errors ?? [UNNAMED]);
  };
}

/** An error without a description. */
const UNNAMED: ErrorObject = { instancePath: '', schemaPath: '', keyword: '', params: {} };

const OPTIONS: Options = {
  strict: false,
  $data: false,
  validateFormats: false,
  // Code inlined for each reference can become much larger than the schema.
  inlineRefs: false,
  logger: false,
  code: {
    // Schemas of many properties compile faster this way, and few are used twice before they are evicted.
    optimize: false,
    regExp: Object.assign(
      (pattern: string) => {
        checkPattern(pattern);
        // Ajv identifies patterns by their text.
        return { test: (text: string) => matchesPattern(text, pattern), toString: () => pattern };
      },
      { code: 're2' },
    ),
  },
};

type Dialect = typeof Ajv | typeof Ajv2020;

function dialectOf({ $schema }: JsonObject): Dialect {
  if ($schema === undefined) return Ajv2020;
  const dialect = typeof $schema === 'string' ? $schema.replace(/#$/, '') : '';
  if (/^https?:\/\/json-schema\.org\/draft\/2020-12\/schema$/.test(dialect)) return Ajv2020;
  if (/^https?:\/\/json-schema\.org\/draft-07\/schema$/.test(dialect)) return Ajv;
  throw new ArgumentSchemaError("'$schema' must be that of draft 2020-12 or draft 7");
}

/** The validator of the dialect's schemas. Created once: compiling it takes longer than most schemas do. */
const grammarOf = createBoundedCache<Dialect, Ajv | Ajv2020>(2);
const grammarFor = (dialect: Dialect): Ajv | Ajv2020 =>
  grammarOf(dialect, () => makeGrammar(dialect));

/** Whether a name is one of the keywords of the schema's dialect. Throws ArgumentSchemaError for an unknown dialect. */
export function keywordsOf(schema: JsonObject): (name: string) => boolean {
  const grammar = grammarFor(dialectOf(schema));
  return (name) => grammar.RULES.keywords[name] !== undefined;
}

function makeGrammar(dialect: Dialect): Ajv | Ajv2020 {
  const grammar = new dialect(OPTIONS);
  void grammar.validateSchema({});
  return grammar;
}

/** Every error comes from the schema: it is too deep for the stack, or has a broken reference. */
function attempt<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
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

/** The keys from the value to the part that an error is about. */
export const pathOf = ({ instancePath }: ErrorObject): string[] =>
  instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The key that an error says must not be there. */
export function extraOf({ params }: ErrorObject): string | undefined {
  const extra: unknown = params['additionalProperty'] ?? params['unevaluatedProperty'];
  return typeof extra === 'string' ? extra : undefined;
}
