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

/** The problem with the arguments, starting with the path; undefined when they fit. */
type Judge = (args: JsonObject) => string | undefined;

const compiled = createBoundedCache<string, Judge>(200);

/**
 * A schema of a few lines can cause work that doubles with each of them: call this where it can be stopped
 * (`untrusted`), never on a shared thread.
 *
 * Throws ArgumentSchemaError for an unusable schema.
 */
export function checkArgumentSchema(schema: JsonObject): void {
  judgeFor(schema);
}

/**
 * Why arguments do not fit a JSON Schema, starting with the path of the first problem; undefined when they do. Without
 * coercion and defaults; `format` is ignored. Throws ArgumentSchemaError.
 */
export function argumentsProblem(schema: JsonObject, args: JsonObject): string | undefined {
  return judgeFor(schema)(args);
}

function judgeFor(schema: JsonObject): Judge {
  const text = JSON.stringify(schema);
  if (text.length > MAX_SCHEMA_LENGTH) {
    throw new ArgumentSchemaError(`is longer than ${MAX_SCHEMA_LENGTH} characters`);
  }
  return compiled(text, () => compile(schema));
}

function compile(schema: JsonObject): Judge {
  if (isDeeperThan(schema, MAX_SCHEMA_DEPTH)) {
    throw new ArgumentSchemaError(`has more than ${MAX_SCHEMA_DEPTH} levels`);
  }
  // Its validator would return a promise, which is not false.
  if (Object.hasOwn(schema, '$async')) throw new ArgumentSchemaError("'$async' is not supported");
  const dialect = dialectOf(schema);
  const grammar = grammarOf(dialect, () => makeGrammar(dialect));
  const validate = attempt('is not a valid JSON Schema', () => {
    if (grammar.validateSchema(schema as AnySchema) !== true) {
      throw new Error(grammar.errorsText(grammar.errors, { dataVar: 'schema' }));
    }
    return new dialect({ ...OPTIONS, validateSchema: false }).compile(schema as AnySchema);
  });
  return (args) => {
    const fits = attempt('cannot be applied to the arguments', () => validate(args) === true);
    return fits ? undefined : problemOf(validate.errors ?? []);
  };
}

const OPTIONS: Options = {
  strict: false,
  // The first error is enough; looking for all of them would let one call cause unlimited work.
  allErrors: false,
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

function problemOf(errors: readonly ErrorObject[]): string {
  const [error] = errors;
  if (error === undefined) return 'arguments do not fit the schema';
  const path = ['arguments', ...error.instancePath.split('/').slice(1).map(unescapePointer)];
  const extra: unknown = error.params['additionalProperty'] ?? error.params['unevaluatedProperty'];
  const text =
    typeof extra === 'string' ? `must not have '${extra}'` : (error.message ?? 'is invalid');
  return `${path.join('.')} ${text}`.slice(0, MAX_MESSAGE).toWellFormed();
}

const unescapePointer = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');
