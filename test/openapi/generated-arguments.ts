import fc from 'fast-check';
import type { Json, JsonObject } from '#shared/json.ts';
import type { ImportedOperation } from '#shared/openapi/imported.ts';

/** Arguments of the shapes that a tool's schema describes. They need not respect its bounds and patterns. */
export function argumentsFor({
  input_schema,
  request,
}: ImportedOperation): fc.Arbitrary<JsonObject> {
  const places = new Map(request.parameters.map(({ argument, in: place }) => [argument, place]));
  const properties = input_schema['properties'] as Record<string, JsonObject>;
  const required = new Set((input_schema['required'] as string[] | undefined) ?? []);
  const definitions = (input_schema['$defs'] ?? {}) as Record<string, JsonObject>;
  const values = Object.entries(properties).map(([name, schema]) => {
    const place = places.get(name);
    const text = place === 'path' ? pathText : place === 'header' ? headerText : anyText;
    const value = valueOf(schema, { definitions, text, inBody: place === undefined, level: 0 });
    const sent = place === 'path' ? value.filter(isInPath) : value;
    return [name, required.has(name) ? sent : fc.option(sent, { nil: undefined })] as const;
  });
  return fc.record(Object.fromEntries(values)).map((record) => {
    const given = Object.entries(record).filter(([, value]) => value !== undefined);
    return Object.fromEntries(given) as JsonObject;
  });
}

/** What has a meaning in a URL, a form, a header or JSON. */
const TRICKY = [
  ...[
    'a/b',
    '../x',
    '?',
    '#',
    '&x=1',
    'a=b',
    '+',
    ' ',
    '%',
    '%2F',
    '%2e',
    ',',
    ';',
    ':',
    '@',
    '[a]',
  ],
  ...[
    '{b}',
    '"',
    "'",
    '\\',
    '|',
    '\n',
    '\r\n--',
    '\t',
    '\0',
    'ü',
    '漢字',
    '😀',
    'null',
    'true',
    '1',
    '',
  ],
  ...[
    '--form-boundary-000000',
    'Content-Type: x',
    '<a>',
    '~',
    '*',
    '!',
    '(',
    '$',
    '.',
    '..',
    '...',
  ],
];
const anyText = fc.oneof(
  fc.constantFrom(...TRICKY),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.toWellFormed()),
);
const pathText = anyText.filter((text) => text !== '' && !/^\.+$/.test(text));
/** Lists and objects in headers are not encoded, and receivers trim values. */
const headerText = fc.stringMatching(/^[a-zA-Z0-9][!-+\--<>-~]{0,10}$/);

const isInPath = (value: Json): boolean =>
  typeof value !== 'object' ||
  (value !== null && Object.values(value).some((part) => part !== null && part !== ''));

interface Context {
  definitions: Record<string, JsonObject>;
  text: fc.Arbitrary<string>;
  inBody: boolean;
  level: number;
}

function valueOf(given: Json, context: Context): fc.Arbitrary<Json> {
  const schema = typeof given === 'object' && given !== null ? (given as JsonObject) : {};
  const ref = schema['$ref'];
  if (typeof ref === 'string') {
    return valueOf(context.definitions[ref.replace('#/$defs/', '')] ?? {}, {
      ...context,
      level: context.level + 1,
    });
  }
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  if (schema['const'] !== undefined) return fc.constant(schema['const']);
  const choices = schema['anyOf'] ?? schema['oneOf'] ?? schema['allOf'];
  if (Array.isArray(choices) && schema['properties'] === undefined && context.level < 6) {
    const inner = { ...context, level: context.level + 1 };
    return fc.oneof(...choices.map((choice) => valueOf(choice, inner)));
  }
  const types = [schema['type'] ?? guessedType(schema)].flat() as string[];
  return fc.oneof(...types.map((type) => typed(type, schema, context)));
}

const guessedType = (schema: JsonObject): string =>
  schema['properties'] !== undefined
    ? 'object'
    : schema['items'] !== undefined
      ? 'array'
      : 'string';

function typed(type: string, schema: JsonObject, context: Context): fc.Arbitrary<Json> {
  const inner = { ...context, level: context.level + 1 };
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer();
    case 'number':
      return fc
        .double({ noNaN: true, noDefaultInfinity: true })
        .map((value) => (value === 0 ? 0 : value));
    case 'array':
      if (context.level > 4) return fc.constant([]);
      return fc.array(valueOf(schema['items'] ?? {}, inner), { maxLength: 3 });
    case 'object':
      return context.level > 4 ? fc.constant({}) : members(schema, inner);
    default:
      return context.text;
  }
}

function members(schema: JsonObject, context: Context): fc.Arbitrary<Json> {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonObject>;
  const values = Object.entries(properties)
    .slice(0, 8)
    .map(([name, part]) => [name, fc.option(valueOf(part, context), { nil: undefined })] as const);
  const more = fc.dictionary(fc.stringMatching(/^[a-z]{3,8}$/), context.text, {
    maxKeys: values.length === 0 ? 3 : 0,
  });
  return fc.tuple(fc.record(Object.fromEntries(values)), more).map(([record, rest]) => {
    const given = Object.entries(record).filter(([, value]) => value !== undefined);
    return { ...(Object.fromEntries(given) as JsonObject), ...rest };
  });
}
