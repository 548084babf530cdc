import fc from 'fast-check';
import { type OpenApiDocument, resolve, type Schema } from './document.ts';

/** `plain`: small values, as callers send them. `edge`: as long, large, deep and unusual as the schema allows. */
export type Taste = 'plain' | 'edge';

/** Maximum length of lists and texts, even if a schema allows more: request bodies are limited. */
const MAX_ITEMS = 120;
const MAX_TEXT = 20_000;
/** Deeper objects get only their required fields. */
const MAX_DEPTH = 6;

/**
 * Generates values that a JSON schema allows. Maintained libraries ignore bounds or cannot use a seed, and this API
 * uses only a small part of JSON Schema.
 */
export function arbitraryOf(
  schema: Schema,
  document: OpenApiDocument,
  taste: Taste,
): fc.Arbitrary<unknown> {
  const known = made[taste].get(schema);
  if (known !== undefined) return known;
  const arbitrary = make(schema, { document, taste, depth: 0 });
  made[taste].set(schema, arbitrary);
  return arbitrary;
}

const made = {
  plain: new WeakMap<Schema, fc.Arbitrary<unknown>>(),
  edge: new WeakMap<Schema, fc.Arbitrary<unknown>>(),
};

interface Context {
  document: OpenApiDocument;
  taste: Taste;
  depth: number;
}

function make(given: Schema, context: Context): fc.Arbitrary<unknown> {
  const schema = resolve(context.document, given);
  const examples = schema.examples ?? [];
  const drawn = draw(schema, context);
  if (examples.length === 0 || context.taste === 'edge') return drawn;
  return fc.oneof(
    { weight: 1, arbitrary: drawn },
    { weight: 1, arbitrary: fc.constantFrom(...examples) },
  );
}

function draw(schema: Schema, context: Context): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const branches = schema.anyOf ?? schema.oneOf;
  if (branches !== undefined) {
    const { anyOf: _any, oneOf: _one, examples: _examples, ...rest } = schema;
    return fc.oneof(
      ...branches.map((branch) => make(merge(rest, resolve(context.document, branch)), context)),
    );
  }
  if (schema.allOf !== undefined) {
    const { allOf, ...rest } = schema;
    return make(
      allOf.reduce<Schema>((all, part) => merge(all, resolve(context.document, part)), rest),
      context,
    );
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? [typeOf(schema)]);
  return fc.oneof(...types.map((type) => ofType(type, schema, context)));
}

const merge = (a: Schema, b: Schema): Schema => ({
  ...a,
  ...b,
  ...(a.properties || b.properties ? { properties: { ...a.properties, ...b.properties } } : {}),
  ...(a.required || b.required ? { required: [...(a.required ?? []), ...(b.required ?? [])] } : {}),
});

const typeOf = (schema: Schema): string => (schema.properties === undefined ? 'any' : 'object');

function ofType(type: string, schema: Schema, context: Context): fc.Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integers(schema, context);
    case 'number':
      return numbers(schema, context);
    case 'string':
      return texts(schema, context);
    case 'array':
      return arrays(schema, context);
    case 'object':
      return objects(schema, context);
    default:
      return anything(context);
  }
}

const anything = ({ taste }: Context): fc.Arbitrary<unknown> =>
  fc.jsonValue({ maxDepth: taste === 'edge' ? 5 : 2 });

function integers({ minimum, maximum, ...rest }: Schema, { taste }: Context): fc.Arbitrary<number> {
  const min = minimum ?? (rest.exclusiveMinimum ?? -2_147_483_649) + 1;
  const max = maximum ?? (rest.exclusiveMaximum ?? 2_147_483_648) - 1;
  if (taste === 'plain') return fc.integer({ min, max: Math.min(max, min + 200) });
  const edges = [min, min + 1, max - 1, max].filter((each) => each >= min && each <= max);
  return fc.oneof(fc.constantFrom(...edges), fc.integer({ min, max }));
}

function numbers(schema: Schema, { taste }: Context): fc.Arbitrary<number> {
  const { minimum = -1e9, maximum = 1e9, exclusiveMinimum, exclusiveMaximum } = schema;
  const min = exclusiveMinimum ?? minimum;
  const max = exclusiveMaximum ?? maximum;
  const fits = (each: number) =>
    each >= min && each <= max && each !== exclusiveMinimum && each !== exclusiveMaximum;
  // Amounts have at most six decimals, which no schema states.
  const rounded = fc
    .double({ min, max: Math.min(max, Math.max(min, 0) + 100), noNaN: true })
    .map((each) => Math.round(each * 1e4) / 1e4)
    .filter(fits);
  if (taste === 'plain') return rounded;
  const edges = [min, max, 0, -0, 1, min + 1e-6, max - 1e-6, 0.1 + 0.2, 1e-7].filter(fits);
  const any = fc.double({ min, max, noNaN: true }).filter(fits);
  return edges.length === 0 ? any : fc.oneof(fc.constantFrom(...edges), any);
}

const plainCharacters = 'abcdefghij klmnop_-.0123456789'.split('');
/** Often mishandled characters that are valid in JSON and in Postgres. */
const strangeCharacters = [
  ...[
    '\u2028',
    '\u2029',
    '\u00a0',
    '\ufeff',
    '\u202e',
    '\u200d',
    '\u0301',
    '\u0001',
    '\u007f',
    '\u0085',
  ],
  ...['é', 'ß', 'İ', 'ı', '字', '𝒳', '😀', '👩‍👩‍👧', '\uffff', '\u{10ffff}'],
  ...[
    '"',
    '\\',
    '/',
    "'",
    '`',
    '<',
    '>',
    '&',
    '{',
    '}',
    '$',
    '%',
    ';',
    '\n',
    '\r',
    '\t',
    '=',
    '+',
    '@',
  ],
];

function texts(schema: Schema, context: Context): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = MAX_TEXT, pattern, format } = schema;
  const fits = (text: string) =>
    [...text].length >= minLength &&
    [...text].length <= maxLength &&
    (pattern === undefined || new RegExp(pattern, 'u').test(text));
  const formatted = format === undefined ? undefined : formats[format];
  if (formatted !== undefined) return formatted.filter(fits);
  if (pattern !== undefined) return matching(pattern, fits);
  const from = (characters: string[], max: number) =>
    fc
      .array(fc.constantFrom(...characters), { minLength, maxLength: Math.max(minLength, max) })
      .map((parts) => [...parts.join('')].slice(0, maxLength).join(''))
      .filter(fits);
  const longest = Math.min(maxLength, MAX_TEXT);
  if (context.taste === 'plain') return from(plainCharacters, Math.min(longest, minLength + 12));
  const ofLength = (length: number, unit = 'x') => fc.constant(unit.repeat(length)).filter(fits);
  return fc.oneof(
    from([...plainCharacters, ...strangeCharacters], Math.min(longest, minLength + 40)),
    ofLength(minLength),
    ofLength(longest),
    // `longest` code points, twice as many code units.
    ofLength(longest, '😀'),
    fc.constantFrom(' '.repeat(Math.max(1, minLength)), 'x'.repeat(minLength + 1)).filter(fits),
  );
}

function matching(pattern: string, fits: (text: string) => boolean): fc.Arbitrary<string> {
  try {
    return fc.stringMatching(new RegExp(pattern)).filter(fits);
  } catch {
    // Unicode classes are not supported.
    return fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/).filter(fits);
  }
}

const times = fc
  .date({ min: new Date('2024-01-01'), max: new Date('2027-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());
const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(octet, octet, octet, octet).map((parts) => parts.join('.'));
/** Only hosts on this machine; the hosts in requests are replaced again before sending. */
const formats: Record<string, fc.Arbitrary<string>> = {
  'date-time': fc.oneof(
    times,
    times.map((time) => time.replace(/\.\d+Z$/, '+02:00')),
  ),
  date: times.map((time) => time.slice(0, 10)),
  email: fc.stringMatching(/^[a-z][a-z0-9]{3,12}$/).map((name) => `${name}@example.com`),
  uri: fc.constantFrom('http://127.0.0.1:9/', 'http://localhost:9/a?b=c#d', 'http://[::1]:9/'),
  ipv4,
  cidrv4: fc.tuple(ipv4, fc.integer({ min: 0, max: 32 })).map((parts) => parts.join('/')),
  ipv6: fc.constantFrom('::1', '2001:db8::1', 'fe80::'),
  cidrv6: fc.constantFrom('::1/128', '2001:db8::/32', '::/0'),
};

function arrays(schema: Schema, context: Context): fc.Arbitrary<unknown[]> {
  const { minItems = 0, maxItems = MAX_ITEMS, items = {} } = schema;
  const longest = Math.min(maxItems, MAX_ITEMS);
  const item = make(items, deeper(context));
  const few = fc.array(item, { minLength: minItems, maxLength: Math.min(longest, minItems + 3) });
  if (context.taste === 'plain' || context.depth > 1) return few;
  return fc.oneof(
    { weight: 6, arbitrary: few },
    { weight: 1, arbitrary: fc.array(item, { minLength: minItems, maxLength: minItems }) },
    { weight: 1, arbitrary: item.map((each) => Array.from({ length: longest }, () => each)) },
  );
}

function objects(schema: Schema, context: Context): fc.Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties } = schema;
  const wanted = Object.entries(properties).filter(
    ([name]) => context.depth < MAX_DEPTH || required.includes(name),
  );
  const inner = deeper(context);
  const declared = fc.record(
    Object.fromEntries(wanted.map(([name, value]) => [name, make(value, inner)])),
    { requiredKeys: required.filter((name) => name in properties) },
  );
  if (additionalProperties === undefined || additionalProperties === false) return declared;
  const value =
    additionalProperties === true ? anything(context) : make(additionalProperties, inner);
  const names = schema.propertyNames
    ? (make(schema.propertyNames, { ...context, taste: 'plain' }) as fc.Arbitrary<string>)
    : fc.stringMatching(/^[a-z][a-z_]{0,8}$/);
  const others = fc.dictionary(names, value, {
    maxKeys: context.taste === 'edge' ? 8 : 3,
    noNullPrototype: true,
  });
  return fc.tuple(others, declared).map(([rest, own]) => ({ ...rest, ...own }));
}

const deeper = (context: Context): Context => ({ ...context, depth: context.depth + 1 });
