import type {
  MappedBody,
  MappedField,
  MappedParameter,
} from '#shared/contract/tools/request-mapping.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Body } from './bodies.ts';
import { FORM, MULTIPART, PLAIN } from './media-types.ts';
import type { Parameter } from './parameters.ts';
import type { Part } from './references.ts';
import type { Fragment, Schemas } from './schemas.ts';

/** The arguments of an operation: their schema, and where each goes. */
export interface Arguments {
  schema: Fragment;
  parameters: MappedParameter[];
  body: MappedBody | null;
}

/** One argument before it has its name. */
interface Wanted {
  place: MappedParameter['in'] | 'body';
  /** As in the document. */
  name: string;
  required: boolean;
  description: string;
  schema: Part;
  /** Adds it to the mapping. */
  map: (argument: string) => void;
}

const MAX_ARGUMENT = 64;
const MAX_DESCRIPTION = 1_000;
/** Names of JavaScript's prototypes are data nowhere in this service. */
const HIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** The flat arguments of an operation. Throws UnsupportedError. */
export function argumentsOf(
  parameters: readonly Parameter[],
  body: Body | undefined,
  schemas: Schemas,
): Arguments {
  const mapped: MappedParameter[] = [];
  const fields: MappedField[] = [];
  const wanted = [
    ...parameters.map((parameter) => wantedParameter(parameter, mapped)),
    ...wantedFields(body, fields),
  ];
  const names = argumentNames(wanted);
  const uses = new Set<string>();
  const properties: [name: string, schema: Json][] = [];
  const required: string[] = [];
  for (const [at, each] of wanted.entries()) {
    const argument = names[at]!;
    const fragment = schemas.convert(each.schema);
    for (const name of fragment.uses) uses.add(name);
    properties.push([argument, describedBy(fragment.schema, each.description)]);
    if (each.required) required.push(argument);
    each.map(argument);
  }
  const schema: JsonObject = {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
  return {
    schema: { schema, uses, same: new Set() },
    parameters: mapped,
    body: body === undefined ? null : mappedBody(body, fields, names.at(-1) ?? ''),
  };
}

function wantedParameter(parameter: Parameter, mapped: MappedParameter[]): Wanted {
  const { name, in: place, required, description, schema, style, explode } = parameter;
  return {
    place,
    name,
    required,
    description,
    schema,
    map: (argument) =>
      mapped.push({
        argument,
        name,
        in: place,
        style,
        explode,
        ...(parameter.allowReserved && { allow_reserved: true as const }),
        ...(parameter.contentType !== undefined && { content_type: parameter.contentType }),
      }),
  };
}

function wantedFields(body: Body | undefined, fields: MappedField[]): Wanted[] {
  if (body === undefined) return [];
  if (body.fields === undefined) {
    const { required, description } = body;
    const schema = body.contentType === PLAIN ? textOnly(body.whole) : formOnly(body);
    const whole = { place: 'body' as const, name: 'body', required, description, schema };
    return [{ ...whole, map: () => undefined }];
  }
  return body.fields.map(({ name, required, schema, encoding }) => ({
    place: 'body',
    name,
    // Without a body, its fields are not there either.
    required: required && body.required,
    description: '',
    schema,
    map: (argument) => fields.push({ argument, name, ...encoding }),
  }));
}

const textOnly = ({ base }: Part): Part => ({ value: { type: 'string' }, base });

/** A form consists of fields, also where its schema allows other values. */
const formOnly = ({ contentType, whole: { value, base } }: Body): Part =>
  contentType === FORM || contentType === MULTIPART
    ? { value: { allOf: [{ type: 'object' }, value] }, base }
    : { value, base };

function mappedBody(body: Body, fields: MappedField[], argument: string): MappedBody {
  const { contentType: content_type, required } = body;
  return body.fields === undefined
    ? { content_type, required, argument }
    : { content_type, required, fields };
}

/** A description of the place comes before one of the type. */
function describedBy(schema: JsonObject, description: string): JsonObject {
  if (description === '') return schema;
  return { ...schema, description: description.slice(0, MAX_DESCRIPTION).toWellFormed() };
}

/** The names of arguments: those that clash all get their place as prefix. They depend on this operation alone. */
function argumentNames(wanted: readonly Wanted[]): string[] {
  const plain = wanted.map(({ name }) => plainName(name));
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  const taken = new Set(plain.filter((name) => counts.get(name) === 1));
  return wanted.map(({ place }, at) => {
    const name = plain[at]!;
    if (counts.get(name) === 1) return name;
    const prefixed = `${place}_${name}`.slice(0, MAX_ARGUMENT);
    let free = prefixed;
    for (let n = 2; taken.has(free); n += 1) {
      free = `${prefixed.slice(0, MAX_ARGUMENT - 1 - String(n).length)}_${n}`;
    }
    taken.add(free);
    return free;
  });
}

/** `filter[name]` becomes `filter_name`. */
function plainName(name: string): string {
  const plain = name
    .replaceAll(/[^a-zA-Z0-9_.-]+/g, '_')
    .slice(0, MAX_ARGUMENT)
    .replace(/(?<=[a-zA-Z0-9])_$/, (end) => (name.endsWith('_') ? end : ''));
  if (plain === '' || plain === '_') return 'value';
  return HIDDEN.has(plain) ? plain.replaceAll('__', '').concat('_') : plain;
}
