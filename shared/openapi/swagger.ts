import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { listIn, objectIn, own, textIn } from './document.ts';
import type { ObjectPart, References } from './references.ts';
import { UnsupportedError } from './unsupported.ts';

/**
 * The parts of a Swagger 2.0 operation in the form of OpenAPI 3. Only what an operation needs is converted: rewriting a
 * whole document takes as long as reading it.
 */

/** The keywords of a parameter that are those of its schema. */
const OF_SCHEMA = [
  ...['type', 'format', 'items', 'default', 'enum', 'minimum', 'maximum', 'exclusiveMinimum'],
  ...['exclusiveMaximum', 'minLength', 'maxLength', 'pattern', 'minItems', 'maxItems'],
  ...['uniqueItems', 'multipleOf', 'x-nullable'],
];
const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/** A parameter as in OpenAPI 3. Throws UnsupportedError for a list whose format OpenAPI 3 does not have. */
export function parameterOfSwagger(parameter: JsonObject): JsonObject {
  return {
    ...pick(parameter, ['name', 'in', 'required', 'description', 'x-deprecated']),
    schema: schemaOf(parameter),
    ...styleOf(parameter),
  };
}

/** The request body that the parameters of these places make; undefined without any. */
export function bodyOfSwagger(
  parameters: readonly ObjectPart[],
  consumes: readonly string[],
): { value: JsonObject; base: string } | undefined {
  const body = parameters.find(({ value }) => textIn(value, 'in') === 'body');
  if (body !== undefined) {
    const types = consumes.length === 0 ? ['application/json'] : consumes;
    const media = { schema: own(body.value, 'schema') ?? {} };
    return {
      base: body.base,
      value: {
        ...pick(body.value, ['required', 'description']),
        content: Object.fromEntries(types.map((type) => [type, media])),
      },
    };
  }
  const fields = parameters.filter(({ value }) => textIn(value, 'in') === 'formData');
  const [first] = fields;
  if (first === undefined) return undefined;
  const named = fields.map(({ value }) => [textIn(value, 'name') ?? '', value] as const);
  const required = named.flatMap(([name, value]) =>
    own(value, 'required') === true ? [name] : [],
  );
  const described = ([name, value]: readonly [string, JsonObject]) =>
    [name, { ...schemaOf(value), ...pick(value, ['description']) }] as const;
  const encoded = named.flatMap(([name, value]) => {
    const style = styleOf({ ...value, in: 'query' });
    return Object.keys(style).length === 0 ? [] : [[name, style] as const];
  });
  const isFile = named.some(([, value]) => textIn(value, 'type') === 'file');
  const types = consumes.filter((type) => FORMS.includes(type));
  const fallback = isFile ? 'multipart/form-data' : 'application/x-www-form-urlencoded';
  const media = {
    schema: { type: 'object', properties: Object.fromEntries(named.map(described)), required },
    encoding: Object.fromEntries(encoded),
  };
  const all = types.length === 0 ? [fallback] : types;
  return {
    base: first.base,
    value: {
      required: required.length > 0,
      content: Object.fromEntries(all.map((type) => [type, media])),
    },
  };
}

/** A response as in OpenAPI 3. */
export const responseOfSwagger = (response: JsonObject): JsonObject => ({
  content: { 'application/json': { schema: own(response, 'schema') ?? {} } },
});

/** The media types that an operation takes, or those of its document. */
export function consumedBy(operation: JsonObject, root: JsonObject): string[] {
  const types = Array.isArray(own(operation, 'consumes'))
    ? listIn(operation, 'consumes')
    : listIn(root, 'consumes');
  return types.filter((type) => typeof type === 'string');
}

/** A security scheme as in OpenAPI 3. */
export const schemeOfSwagger = (scheme: JsonObject): JsonObject =>
  textIn(scheme, 'type') === 'basic' ? { ...scheme, type: 'http', scheme: 'basic' } : scheme;

/** The parameters of a list without references. */
export const parametersIn = (
  list: readonly Json[],
  base: string,
  references: References,
): ObjectPart[] => list.map((value) => references.object({ value, base }, 'a parameter of it'));

function schemaOf(parameter: JsonObject): JsonObject {
  const schema = pick(parameter, OF_SCHEMA);
  return textIn(schema, 'type') === 'file' ? { type: 'string', format: 'binary' } : schema;
}

function styleOf(parameter: JsonObject): JsonObject {
  if (textIn(parameter, 'type') !== 'array') return {};
  const inQuery = textIn(parameter, 'in') === 'query';
  const format = textIn(parameter, 'collectionFormat') ?? 'csv';
  if (format === 'csv') return { style: inQuery ? 'form' : 'simple', explode: false };
  if (inQuery && format === 'multi') return { style: 'form', explode: true };
  if (inQuery && format === 'ssv') return { style: 'spaceDelimited', explode: false };
  if (inQuery && format === 'pipes') return { style: 'pipeDelimited', explode: false };
  throw new UnsupportedError(
    `its parameter '${textIn(parameter, 'name') ?? ''}' is a list in the format '${format}'`,
  );
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  const entries = names.flatMap((name) => {
    const value = own(object, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

/** The schemes of a document by name, as far as they are objects. */
export const schemesOf = (root: JsonObject): JsonObject => {
  const schemes =
    objectIn(root, 'securityDefinitions') ??
    objectIn(objectIn(root, 'components') ?? {}, 'securitySchemes') ??
    {};
  return Object.fromEntries(Object.entries(schemes).filter(([, scheme]) => isObject(scheme)));
};
