/** The parts of an OpenAPI document that the fuzzer reads. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  examples?: unknown[];
  example?: unknown;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header' | 'cookie';
  required?: boolean;
  schema: Schema;
}

interface Media {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
}

export interface ResponseDescription {
  content?: Record<string, Media>;
  headers?: Record<string, { required?: boolean; schema?: Schema }>;
  $ref?: string;
}

export interface OpenApiDocument {
  paths: Record<string, Record<string, RawOperation>>;
  components?: Record<string, Record<string, unknown>>;
}

interface RawOperation {
  operationId?: string;
  parameters?: (Parameter & { $ref?: string })[];
  requestBody?: { required?: boolean; content?: Record<string, Media>; $ref?: string };
  responses?: Record<string, ResponseDescription>;
}

export type Surface = 'operations' | 'data' | 'mcp' | 'hooks';

/** One method of one path in a document. */
export interface Operation {
  /** `GET /api/runs/{id}`: its name in reports. */
  name: string;
  id: string;
  surface: Surface;
  method: string;
  path: string;
  parameters: Parameter[];
  /** The JSON body; undefined if it has none. */
  body?: { required: boolean; schema: Schema; example: unknown };
  /** By status, references resolved. */
  responses: Record<string, ResponseDescription>;
  document: OpenApiDocument;
}

const methods = new Set(['get', 'head', 'post', 'put', 'patch', 'delete']);

/** All operations of a document, in its order. */
export function operationsOf(document: OpenApiDocument): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => methods.has(method))
      .map(([method, raw]) => toOperation(document, path, method.toUpperCase(), raw)),
  );
}

function toOperation(
  document: OpenApiDocument,
  path: string,
  method: string,
  raw: RawOperation,
): Operation {
  const body = raw.requestBody && resolve(document, raw.requestBody);
  const media = body?.content?.['application/json'];
  const responses = Object.entries(raw.responses ?? {}).map(([status, response]) => [
    status,
    resolve(document, response),
  ]);
  return {
    name: `${method} ${path}`,
    id: raw.operationId ?? `${method} ${path}`,
    surface: surfaceOf(path),
    method,
    path,
    parameters: (raw.parameters ?? []).map((parameter) => resolve(document, parameter)),
    ...(media === undefined
      ? {}
      : {
          body: {
            required: body?.required === true,
            schema: media.schema ?? {},
            example: media.example ?? Object.values(media.examples ?? {})[0]?.value,
          },
        }),
    responses: Object.fromEntries(responses) as Operation['responses'],
    document,
  };
}

function surfaceOf(path: string): Surface {
  if (path.startsWith('/v1/')) return 'data';
  if (path === '/api/mcp') return 'mcp';
  return path.startsWith('/api/hooks/') ? 'hooks' : 'operations';
}

/** The target of a `$ref` within the document, or the value itself. Throws if the target does not exist. */
export function resolve<T extends { $ref?: string }>(document: OpenApiDocument, value: T): T {
  if (value.$ref === undefined) return value;
  let found: unknown = document;
  for (const part of value.$ref.replace(/^#\//, '').split('/')) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    found = (found as Record<string, unknown> | undefined)?.[name];
  }
  if (found === undefined) throw new Error(`${value.$ref} is not in the document`);
  return resolve(document, found as T);
}

/** The place of a response in the document, as a JSON pointer without `#`. */
export const pointerTo = (operation: Operation, ...rest: string[]): string =>
  ['', 'paths', operation.path, operation.method.toLowerCase(), ...rest]
    .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
    .join('/');
