import { refName, type Schema } from './document.ts';

/** The Python type of a schema. `prefix` is for the names of models: `m.` outside of their module. */
export function typeOf(schema: Schema, prefix = ''): string {
  return unionOf(alternatives(schema, prefix));
}

/** The members of a union without repetitions. `Any` absorbs the others. */
function unionOf(types: readonly string[]): string {
  const flat = [...new Set(types)];
  if (flat.includes('Any')) return 'Any';
  if (flat.includes('str')) return unionOfPlain(flat.filter((type) => !/^Literal\["/.test(type)));
  return unionOfPlain(flat);
}

/** None comes last. */
function unionOfPlain(flat: readonly string[]): string {
  return [
    ...flat.filter((type) => type !== 'None'),
    ...flat.filter((type) => type === 'None'),
  ].join(' | ');
}

function alternatives(schema: Schema, prefix: string): string[] {
  if (schema.$ref !== undefined) return [prefix + refName(schema.$ref)];
  const union = schema.anyOf ?? schema.oneOf;
  if (union !== undefined) return union.flatMap((each) => alternatives(each, prefix));
  if (schema.const !== undefined) return [literal([schema.const])];
  if (schema.enum !== undefined) return [literal(schema.enum)];
  if (Array.isArray(schema.type)) {
    return schema.type.flatMap((type) => alternatives({ ...schema, type }, prefix));
  }
  return [plainType(schema, prefix)];
}

const plain: Readonly<Record<string, string>> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

function plainType({ type, items, additionalProperties }: Schema, prefix: string): string {
  if (type === undefined || Array.isArray(type)) return 'Any';
  if (type === 'array') return `list[${items === undefined ? 'Any' : typeOf(items, prefix)}]`;
  if (type === 'object') {
    const values = typeof additionalProperties === 'object' ? additionalProperties : {};
    return `dict[str, ${typeOf(values, prefix)}]`;
  }
  const found = plain[type];
  if (found === undefined) throw new Error(`There is no Python type for the type ${type}`);
  return found;
}

const literal = (values: readonly (string | number | boolean | null)[]): string =>
  `Literal[${values.map(python).join(', ')}]`;

/** A value as Python. */
export function python(value: unknown): string {
  if (value === null) return 'None';
  if (value === true) return 'True';
  if (value === false) return 'False';
  return JSON.stringify(value);
}

/** The type of a query parameter: true and false are `bool`, times can be `datetime`, and a list can be one value. */
export function queryType(schema: Schema): string {
  if (schema.enum?.join() === 'true,false') return 'bool';
  if (schema.format === 'date-time') return 'str | datetime';
  if (schema.type !== 'array') return typeOf(schema);
  const item = typeOf(schema.items ?? {});
  return `${item} | Sequence[${item}]`;
}

const keywords = new Set(
  (
    'False None True and as assert async await break class continue def del elif else except finally for from global if ' +
    'import in is lambda nonlocal not or pass raise return try while with yield'
  ).split(' '),
);

/** A name as Python can have it: keywords get an underscore. */
export const identifier = (name: string): string => (keywords.has(name) ? `${name}_` : name);
export const isIdentifier = (name: string): boolean =>
  /^[a-z_]\w*$/i.test(name) && !keywords.has(name);

/** `listWebhookEndpoints` as `list_webhook_endpoints`. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll('-', '_');

const WIDTH = 100;

/** A docstring: the first line, then paragraphs, each with its own further indentation. */
export function docstring(
  first: string,
  paragraphs: readonly string[][],
  indent: string,
): string[] {
  const sentence = escaped(/[.:?!]$/.test(first) ? first : `${first}.`);
  if (paragraphs.length === 0 && sentence.length + indent.length + 6 <= WIDTH) {
    return [`${indent}"""${sentence}"""`];
  }
  const body = paragraphs.flatMap((lines) => [
    '',
    ...lines.map((line) => line && indent + escaped(line)),
  ]);
  return [...wrapped(sentence, WIDTH - 3, indent, `${indent}"""`), ...body, `${indent}"""`];
}

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"""', '\\"\\"\\"');

/** Breaks a text into lines. */
export function wrapped(text: string, width: number, indent = '', start = indent): string[] {
  const lines: string[] = [];
  let line = start;
  let empty = true;
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    if (!empty && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line += empty ? word : ` ${word}`;
    empty = false;
  }
  return [...lines, line];
}
