/** The parts of an OpenAPI document that the Python client is generated from. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: (string | number | boolean | null)[];
  const?: string | number | boolean | null;
  description?: string;
  format?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; description?: string; content: Content };
  responses: Record<string, { content?: Content }>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** The name of the schema that a reference names. */
export const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** A schema without its reference. */
export function resolve(document: OpenApi, schema: Schema): Schema {
  if (schema.$ref === undefined) return schema;
  const target = document.components.schemas[refName(schema.$ref)];
  if (target === undefined) throw new Error(`The document has no schema ${schema.$ref}`);
  return target;
}

/** An object whose fields are all known. */
export const hasFields = ({ properties, additionalProperties }: Schema): boolean =>
  properties !== undefined &&
  (additionalProperties === false || additionalProperties === undefined);
