import {
  hasFields,
  type OpenApi,
  type Operation,
  type Parameter,
  resolve,
  type Schema,
} from './document.ts';
import { handwritten, identified, type Naming, omitted } from './names.ts';
import { identifier, queryType, snakeCase, typeOf } from './types.ts';

/** An argument of a method. */
export interface Argument {
  /** As Python can have it. */
  name: string;
  /** As the API has it. */
  sent: string;
  type: string;
  /** As Python; undefined if it has to be given. */
  standard?: string;
  about?: string;
}

/** A method of the Python client. */
export interface Method {
  name: string;
  summary: string;
  description: string | undefined;
  verb: string;
  path: string;
  answer: string;
  /** The parameters of the path, then what can be given without its name. */
  ids: Argument[];
  positional: Argument[];
  /** The fields of the body; empty if there is none, or another one. */
  fields: Argument[];
  /** A body that is not an object with known fields. */
  whole: Argument | undefined;
  query: Argument[];
  fixed: Readonly<Record<string, string>>;
  once: boolean;
  conditional: boolean;
  /** How the list is read: at once, page by page, or as one page. */
  list: 'all' | undefined;
  rows:
    | { name: string; key: string; type: string; by: 'cursor' | 'offset' | 'after' | 'envelope' }
    | undefined;
}

/** The methods of an API, in the order of its document. */
export function methodsOf(document: OpenApi, names: Readonly<Record<string, Naming>>): Method[] {
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([verb, operation]) =>
      methodsOfOperation(document, { path, verb: verb.toUpperCase(), operation }, names),
    ),
  );
  const seen = new Set<string>();
  for (const name of all.flatMap((method) => [method.name, method.rows?.name ?? []]).flat()) {
    if (seen.has(name)) {
      throw new Error(`Two methods have the name ${name}: change scripts/python/names.ts`);
    }
    seen.add(name);
  }
  return all;
}

interface Place {
  path: string;
  verb: string;
  operation: Operation;
}

function methodsOfOperation(
  document: OpenApi,
  place: Place,
  names: Readonly<Record<string, Naming>>,
): Method[] {
  const { operationId } = place.operation;
  const byHand = operationId in handwritten && place.path.startsWith('/api/');
  if (byHand || omitted.includes(operationId)) return [];
  const naming = names[operationId] ?? {};
  const method = methodOf(document, place, naming);
  if (naming.text === undefined) return [method];
  const { name, fixed, summary } = naming.text;
  const paged = ['limit', 'cursor'];
  const text: Method = {
    ...method,
    name,
    summary,
    fixed,
    answer: 'str',
    query: method.query.filter(({ sent }) => !paged.includes(sent)),
    rows: undefined,
  };
  return [method, text];
}

function methodOf(document: OpenApi, { path, verb, operation }: Place, naming: Naming): Method {
  const { fixed = {} } = naming;
  const parameters = operation.parameters ?? [];
  const of = (place: Parameter['in']) => parameters.filter((each) => each.in === place);
  const headers = of('header').map(({ name }) => name);
  const body = bodyOf(document, operation, naming);
  const fields = body.fields.filter(({ sent }) => !(sent in fixed));
  const taken = new Set(fields.map(({ sent }) => sent));
  // A field of the body that is also a parameter: the parameter is for bodies that are streams.
  const query = of('query').filter(({ name }) => !(name in fixed) && !taken.has(name));
  const name = naming.name ?? snakeCase(operation.operationId);
  const method = {
    name,
    summary: operation.summary,
    description: operation.description ?? operation.requestBody?.description,
    verb,
    path,
    answer: answerOf(operation),
    ids: of('path').length === 0 ? [] : idsOf(path, of('path')),
    positional: fields.filter(({ sent }) => naming.positional?.includes(sent)),
    fields,
    whole: body.whole,
    query: query.map(queryArgument),
    fixed,
    once: headers.includes('idempotency-key'),
    conditional: headers.includes('if-match'),
  };
  return { ...method, ...listOf(document, operation, { name, naming }) };
}

/** The parameters of a path, in its order; an `{id}` is named after the part before it. */
function idsOf(path: string, parameters: readonly Parameter[]): Argument[] {
  return [...path.matchAll(/([\w-]*)\/\{(\w+)\}/g)].map(([, before = '', name = '']) => {
    const found = parameters.find((each) => each.name === name);
    if (found === undefined) throw new Error(`${path}: no parameter ${name}`);
    return {
      name: name === 'id' ? `${singular(before)}_id` : identifier(name),
      sent: name,
      type: typeOf(found.schema),
      ...(found.description !== undefined && { about: found.description }),
    };
  });
}

const singular = (part: string): string =>
  snakeCase(identified[part] ?? part.replace(/ies$/, 'y').replace(/s$/, ''));

const queryArgument = ({ name, schema, required, description }: Parameter): Argument => ({
  name: identifier(name),
  sent: name,
  type: required === true ? queryType(schema) : `${queryType(schema)} | None`,
  ...(required !== true && { standard: 'None' }),
  ...(description !== undefined && { about: description }),
});

function bodyOf(
  document: OpenApi,
  { requestBody }: Operation,
  { body = 'body', defaults = {} }: Naming,
): { fields: Argument[]; whole: Argument | undefined } {
  const given = requestBody?.content['application/json']?.schema;
  if (given === undefined) return { fields: [], whole: undefined };
  const schema = resolve(document, given);
  if (!hasFields(schema)) {
    const type = typeOf(given, 'm.');
    return { fields: [], whole: { name: body, sent: body, type } };
  }
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(([sent, field]): Argument => {
    const type = typeOf(field, 'm.');
    const standard = defaults[sent] ?? 'NOT_GIVEN';
    const argument = {
      name: identifier(sent),
      sent,
      ...(field.description !== undefined && { about: field.description }),
    };
    if (required.has(sent)) return { ...argument, type };
    return { ...argument, type: standard === 'NOT_GIVEN' ? orNotGiven(type) : type, standard };
  });
  return { fields, whole: undefined };
}

/** The type of an argument that can be omitted. None comes last in a union. */
const orNotGiven = (type: string): string =>
  / \| None$/.test(type) ? type.replace(/None$/, 'NotGiven | None') : `${type} | NotGiven`;

/** The type of a successful response: of all JSON bodies, or text where there are none. */
function answerOf({ responses }: Operation): string {
  const bodies = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.entries(content));
  const json = bodies
    .filter(([kind]) => kind === 'application/json')
    .map(([, { schema }]) => schema);
  if (json.length > 0) return typeOf({ anyOf: json }, 'm.');
  return bodies.length > 0 ? 'str' : 'None';
}

function answerSchema(document: OpenApi, { responses }: Operation): Schema {
  const schema = responses['200']?.content?.['application/json']?.schema;
  return schema === undefined ? {} : resolve(document, schema);
}

function listOf(
  document: OpenApi,
  operation: Operation,
  { name, naming }: { name: string; naming: Naming },
): Pick<Method, 'list' | 'rows'> {
  const schema = answerSchema(document, operation);
  const has = (parameter: string): boolean =>
    operation.parameters?.some((each) => each.in === 'query' && each.name === parameter) === true;
  const iterator = naming.rows?.name ?? name.replace(/^list_/, '');
  const whole = schema.type === 'array' && has('offset');
  const list = whole && naming.onePage !== true ? 'all' : undefined;
  const rowsIn = (key: string) => ({
    name: iterator,
    key,
    type: typeOf((key === '' ? schema : (schema.properties?.[key] ?? {})).items ?? {}, 'm.'),
  });
  if (naming.rows !== undefined && has('offset')) {
    return { list, rows: { ...rowsIn(naming.rows.key), by: 'offset' } };
  }
  const { properties = {} } = schema;
  if (properties['pagination'] !== undefined && has('cursor')) {
    return { list, rows: { ...rowsIn('data'), by: 'envelope' } };
  }
  if (properties['next_cursor'] === undefined) return { list, rows: undefined };
  const arrays = Object.keys(properties).filter((key) => properties[key]?.type === 'array');
  const key = naming.rows?.key ?? (arrays.length === 1 ? (arrays[0] ?? '') : '');
  if (key === '') {
    throw new Error(`${name} has several lists: name its rows in scripts/python/names.ts`);
  }
  return { list, rows: { ...rowsIn(key), by: has('cursor') ? 'cursor' : 'after' } };
}
