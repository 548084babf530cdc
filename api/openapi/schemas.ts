import { isDeepStrictEqual } from 'node:util';

/** The schemas of a document, arranged so that client generators have a name for each. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  discriminator?: { propertyName: string; mapping: Record<string, string> };
}

export interface Components {
  schemas: Record<string, Schema>;
  [kind: string]: Record<string, unknown>;
}

interface Content {
  content?: Record<string, { schema?: Schema }>;
}

export interface Operation {
  operationId: string;
  requestBody?: Content;
  responses: Record<string, Content>;
}

/** The generator's suffix for schemas of requests that differ from those of responses. */
const SENT = 'Input';
const refTo = (name: string): string => `#/components/schemas/${name}`;

/** Removes unreferenced schemas, because the generator creates each type both for requests and for responses. */
export function dropUnused(document: { components: Components }): void {
  const { components } = document;
  for (;;) {
    const references = JSON.stringify(document).matchAll(/"#\/components\/([^"]+)"/g);
    const used = new Set([...references].map(([, reference]) => reference));
    const unused = ['schemas', 'responses', 'headers'].flatMap((kind) =>
      Object.keys(components[kind] ?? {})
        .filter((name) => !used.has(`${kind}/${name}`))
        .map((name) => [kind, name] as const),
    );
    if (unused.length === 0) return;
    for (const [kind, name] of unused) delete components[kind]?.[name];
  }
}

/**
 * The document with one schema, without a suffix, for each type that only occurs in requests or is the same in both.
 */
export function dropSuffixes<Document extends { components: Components }>(
  document: Document,
): Document {
  const { schemas } = document.components;
  const bare = (name: string): string => name.slice(0, -SENT.length);
  const renamed = new Set(Object.keys(schemas).filter((name) => name.endsWith(SENT)));
  const rename = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value), (_key, each: unknown) => {
      const name =
        typeof each === 'string' && each.startsWith(refTo('')) && each.slice(refTo('').length);
      return name && renamed.has(name) ? refTo(bare(name)) : each;
    }) as T;
  // Two that differ keep their names, so other schemas that refer to them may also differ.
  for (let before = -1; before !== renamed.size;) {
    before = renamed.size;
    for (const name of renamed) {
      const answered = schemas[bare(name)];
      if (answered === undefined) continue;
      if (!isDeepStrictEqual(rename(schemas[name]), rename(answered))) renamed.delete(name);
    }
  }
  const result = rename(document);
  result.components.schemas = Object.fromEntries(
    Object.entries(result.components.schemas).map(([name, schema]) => [
      renamed.has(name) ? bare(name) : name,
      schema,
    ]),
  );
  return result;
}

/**
 * Moves every object inside another schema, a body or a response to the components, named by its position:
 * `RunTemporal` is `temporal` of `Run`. Throws if two different objects would get the same name, or if variants have
 * none: such a schema needs an `id` in the contract.
 */
export function nameInline(
  schemas: Record<string, Schema>,
  operations: readonly Operation[],
): void {
  const place = (schema: Schema, name: string): Schema => {
    if (schema.properties === undefined || Object.keys(schema.properties).length === 0) {
      return schema;
    }
    const there = schemas[name];
    if (there !== undefined && !isDeepStrictEqual(there, schema)) {
      throw new Error(`Two schemas would be named ${name} in the OpenAPI document: give one an id`);
    }
    schemas[name] = schema;
    return { $ref: refTo(name) };
  };
  const inside = (schema: Schema, name: string): Schema => place(visit(schema, name), name);
  const visit = (schema: Schema, name: string): Schema => {
    const variants = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
    if (variants.filter((each) => each.properties !== undefined).length > 1) {
      throw new Error(`The variants of ${name} need an id each in the OpenAPI document`);
    }
    const { properties, items, additionalProperties, anyOf, oneOf } = schema;
    if (properties !== undefined) {
      schema.properties = Object.fromEntries(
        Object.entries(properties).map(([key, each]) => [key, inside(each, name + pascal(key))]),
      );
    }
    if (items !== undefined) schema.items = inside(items, singular(name));
    if (typeof additionalProperties === 'object') {
      schema.additionalProperties = inside(additionalProperties, `${name}Value`);
    }
    if (anyOf !== undefined) schema.anyOf = anyOf.map((each) => inside(each, name));
    if (oneOf !== undefined) schema.oneOf = oneOf.map((each) => inside(each, name));
    return schema;
  };
  for (const [name, schema] of Object.entries(schemas)) visit(schema, name);
  for (const { operationId, requestBody, responses } of operations) {
    const parts: [string, Content][] = [
      ...(requestBody === undefined ? [] : [['Body', requestBody] as [string, Content]]),
      ...Object.values(responses).map((answer): [string, Content] => ['Response', answer]),
    ];
    for (const [part, { content = {} }] of parts) {
      for (const media of Object.values(content)) {
        if (media.schema !== undefined) {
          media.schema = inside(media.schema, pascal(operationId) + part);
        }
      }
    }
  }
}

/** Adds the discriminator of every choice between named schemas. */
export function addDiscriminators(schemas: Record<string, Schema>): void {
  for (const schema of Object.values(schemas)) {
    const variants = (schema.oneOf ?? []).map(({ $ref = '' }) => ({
      $ref,
      schema: schemas[$ref.slice(refTo('').length)],
    }));
    const [first] = variants;
    const propertyName = (first?.schema?.required ?? []).find((name) =>
      variants.every((each) => valuesOf(each.schema?.properties?.[name]) !== undefined),
    );
    if (propertyName === undefined) continue;
    const mapping = variants.flatMap(({ $ref, schema: variant }) =>
      (valuesOf(variant?.properties?.[propertyName]) ?? []).map((value) => [String(value), $ref]),
    );
    schema.discriminator = {
      propertyName,
      mapping: Object.fromEntries(mapping) as Record<string, string>,
    };
  }
}

const valuesOf = (schema: Schema | undefined): unknown[] | undefined =>
  schema?.const === undefined ? schema?.enum : [schema.const];

const pascal = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_all, first: string) =>
    first.toUpperCase(),
  );

const singular = (name: string): string => name.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '');
