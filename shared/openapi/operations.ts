import { isObject } from '#shared/graph/json-value.ts';
import { type Json, type JsonObject, toStorable } from '#shared/json.ts';
import { argumentsOf } from './arguments.ts';
import { readBody } from './bodies.ts';
import { type OpenApiDocument, listIn, objectIn, own, textIn } from './document.ts';
import type {
  ImportedDocument,
  ImportedOperation,
  ImportOptions,
  OperationMethod,
  SecurityScheme,
} from './imported.ts';
import { listOperations, type ListedOperation } from './listed-operations.ts';
import { isJsonType, mediaTypeOf } from './media-types.ts';
import { type DeclaredKey, readParameters } from './parameters.ts';
import { createReferences, type ObjectPart, type Part, type References } from './references.ts';
import { closedSchema, cutSchema } from './schema-closure.ts';
import { createSchemas, type Schemas } from './schemas.ts';
import { serversIn, serversOf, serverUrl } from './servers.ts';
import {
  bodyOfSwagger,
  consumedBy,
  parameterOfSwagger,
  parametersIn,
  responseOfSwagger,
  schemeOfSwagger,
  schemesOf,
} from './swagger.ts';
import { beginningOf } from '#shared/values/excerpt.ts';
import { UnsupportedError } from './unsupported.ts';

const DEFAULT_LIMIT = 500;
const MAX_LABEL = 200;
const MAX_DESCRIPTION = 1_000;
const MAX_TITLE = 200;
const MAX_SCHEMES = 50;
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** What the operations of a document have in common. */
interface Import {
  document: OpenApiDocument;
  references: References;
  requests: Schemas;
  responses: Schemas;
  keys: DeclaredKey[];
  documentUrl: string | undefined;
  /** The origin of the document's own server, and the server that is called. */
  ownOrigin: string | undefined;
  server: string;
}

/**
 * The operations of a document as tools, each with its arguments and how they become a request. What cannot be called is
 * skipped, each with its reason. A problem concerns the whole document. Takes seconds for a large document: only call
 * this where it can be stopped (`operationsUntrusted`).
 */
export function operationsOf(
  document: OpenApiDocument,
  options: ImportOptions = {},
): ImportedDocument | { problem: string } {
  const { root, dialect } = document;
  const { documentUrl, limit = DEFAULT_LIMIT } = options;
  const servers = serversOf(root, dialect, documentUrl);
  const server = options.server === undefined ? servers[0] : serverUrl(options.server, documentUrl);
  if (server === undefined) return { problem: serverProblem(options.server) };
  const references = createReferences(root, options);
  const schemes = securitySchemes(root, references);
  const rootBase = (documentUrl ?? '').replace(/#.*$/s, '');
  const common: Import = {
    document,
    references,
    requests: createSchemas(references, { dialect, use: 'request', rootBase }),
    responses: createSchemas(references, { dialect, use: 'response', rootBase }),
    keys: schemes.flatMap(({ in: place, parameter }) =>
      place !== undefined && parameter !== undefined ? [{ in: place, parameter }] : [],
    ),
    documentUrl,
    ownOrigin: servers[0] === undefined ? undefined : new URL(servers[0]).origin,
    server,
  };
  const listed = listOperations(root, rootBase, references, options);
  const result: ImportedDocument = {
    title: beginningOf(textIn(objectIn(root, 'info') ?? {}, 'title') ?? '', MAX_TITLE),
    version: beginningOf(versionOf(root), MAX_TITLE),
    servers,
    security_schemes: schemes,
    operations: [],
    skipped: listed.skipped,
    beyond_limit: 0,
    missing: [],
  };
  for (const each of listed.operations) {
    if (result.operations.length >= limit) {
      result.beyond_limit += 1;
      continue;
    }
    const outcome = importedOr(common, each);
    if (typeof outcome !== 'string') result.operations.push(outcome);
    else result.skipped.push({ operation: each.operation, reason: outcome });
  }
  result.missing = [...references.missing];
  return toStorable(result as unknown as Json) as unknown as ImportedDocument;
}

/** Without quotes, YAML reads `1.0` as a number. */
function versionOf(root: JsonObject): string {
  const version = own(objectIn(root, 'info') ?? {}, 'version');
  return typeof version === 'string' || typeof version === 'number' ? String(version) : '';
}

const serverProblem = (given: string | undefined): string =>
  given === undefined
    ? 'The document names no server with an absolute URL: say which one to call'
    : 'The server must be a URL that starts with http:// or https://, without a user name, a password, a query or a fragment';

/** The operation, or why it is skipped. */
function importedOr(common: Import, listed: ListedOperation): ImportedOperation | string {
  try {
    return imported(common, listed);
  } catch (error) {
    if (error instanceof UnsupportedError) return error.message;
    if (error instanceof RangeError) return 'it is nested too deeply';
    throw error;
  }
}

function imported(common: Import, listed: ListedOperation): ImportedOperation {
  const { name, node, base } = listed;
  // A fragment, by which some documents tell operations of one path apart, is not sent.
  const path = listed.path.replace(/#.*$/s, '');
  const { references, requests } = common;
  if (!METHODS.includes(listed.method)) {
    throw new UnsupportedError(`its method ${listed.method} is not supported`);
  }
  const method = listed.method as OperationMethod;
  const pathProblem = problemOfPath(path);
  if (pathProblem !== undefined) throw new UnsupportedError(pathProblem);
  const { parameters, body: bodyPart } = partsOf(common, listed);
  const read = readParameters(parameters, path, common.keys);
  let body = bodyPart === undefined ? undefined : readBody(bodyPart, references);
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) {
    if (body.required) throw new UnsupportedError(`it sends a body with ${method}`);
    body = undefined;
  }
  const { schema, parameters: mapped, body: mappedBody } = argumentsOf(read, body, requests);
  const deprecated = own(node, 'deprecated') === true;
  const { url: server, isForeign } = serverFor(common, listed);
  return {
    operation: listed.operation,
    method,
    path: listed.path,
    name,
    label: beginningOf(textIn(node, 'summary')?.trim() ?? '', MAX_LABEL),
    description: descriptionOf(node, deprecated),
    read_only: method === 'GET' || method === 'HEAD',
    deprecated,
    input_schema: closedSchema(schema, requests),
    response_schema: responseSchema(common, { value: own(node, 'responses') ?? {}, base }),
    request: {
      server,
      path,
      parameters: mapped,
      body: mappedBody,
      operation: listed.operation,
      own_server: isForeign,
    },
  };
}

/** The parameters and the body of an operation in the form of OpenAPI 3. */
function partsOf(
  { document: { dialect, root }, references }: Import,
  { node, base, item }: ListedOperation,
): { parameters: ObjectPart[]; body: Part | undefined } {
  const parameters = [
    ...parametersIn(listIn(item.value, 'parameters'), item.base, references),
    ...parametersIn(listIn(node, 'parameters'), base, references),
  ];
  if (dialect !== '2.0') {
    const body = own(node, 'requestBody');
    return { parameters, body: body === undefined ? undefined : { value: body, base } };
  }
  const inBody = new Set(['body', 'formData']);
  const isInBody = ({ value }: ObjectPart): boolean => inBody.has(textIn(value, 'in') ?? '');
  const others = parameters.filter((each) => !isInBody(each));
  return {
    parameters: others.map((each) => ({ ...each, value: parameterOfSwagger(each.value) })),
    body: bodyOfSwagger(parameters.filter(isInBody), consumedBy(node, root)),
  };
}

/** Segments that a URL resolves away would lead to another path than the document says. */
function problemOfPath(path: string): string | undefined {
  if (!path.startsWith('/') || path.length > 2_000) return 'its path does not begin with a slash';
  if (path.includes('?')) return 'its path contains a query';
  const dots = path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
  if (dots) return "its path contains '.' or '..'";
  const literal = path.replaceAll(/\{[^{}]*\}/g, '');
  return /[{}]|%(?![\da-f]{2})|\\/i.test(literal) ? 'its path is not valid' : undefined;
}

/** The server of an operation: its own, that of its path, or the document's. */
function serverFor(
  { documentUrl, server, ownOrigin }: Import,
  { node, item }: ListedOperation,
): { url: string; isForeign: boolean } {
  const named = [node, item.value].find((each) => listIn(each, 'servers').length > 0);
  if (named === undefined) return { url: server, isForeign: false };
  const [own_] = serversIn(named, documentUrl);
  if (own_ === undefined) throw new UnsupportedError('its own server has no absolute URL');
  const { origin } = new URL(own_);
  const called = new URL(server).origin;
  if (origin === called) return { url: own_, isForeign: false };
  // The document's server was replaced, and with it this one.
  if (origin === ownOrigin) return { url: called + own_.slice(origin.length), isForeign: false };
  return { url: own_, isForeign: true };
}

function descriptionOf(node: JsonObject, deprecated: boolean): string {
  const summary = textIn(node, 'summary')?.trim() ?? '';
  const text = textIn(node, 'description')?.trim() ?? '';
  const parts = [deprecated ? 'Deprecated.' : '', text.startsWith(summary) ? '' : summary, text];
  return beginningOf(parts.filter((part) => part !== '').join('\n\n'), MAX_DESCRIPTION);
}

/** The schema of the first successful response in JSON; null without one, or where it cannot be read. */
function responseSchema(
  { document, references, responses }: Import,
  part: Part,
): JsonObject | null {
  try {
    if (!isObject(part.value)) return null;
    const codes = Object.keys(part.value).filter((code) => /^2(?:\d\d|XX)$/i.test(code));
    for (const code of codes.sort()) {
      const value = part.value[code] ?? null;
      const response = references.object({ value, base: part.base }, 'a response of it');
      const shaped =
        document.dialect === '2.0' ? responseOfSwagger(response.value) : response.value;
      const content = Object.entries(objectIn(shaped, 'content') ?? {});
      const json = content.find(([type]) => isJsonType(mediaTypeOf(type)))?.[1];
      const schema = isObject(json) ? own(json, 'schema') : undefined;
      if (!isObject(schema) || Object.keys(schema).length === 0) continue;
      const fragment = responses.convert({ value: schema, base: response.base });
      return cutSchema(fragment, responses) ?? null;
    }
    return null;
  } catch (error) {
    if (error instanceof UnsupportedError || error instanceof RangeError) return null;
    throw error;
  }
}

function securitySchemes(root: JsonObject, references: References): SecurityScheme[] {
  const base = [...Object.entries(schemesOf(root))].slice(0, MAX_SCHEMES);
  return base.flatMap(([name, given]) => {
    try {
      const { value } = references.object({ value: given, base: '' }, 'it');
      const scheme = schemeOfSwagger(value);
      const type = textIn(scheme, 'type');
      if (type === undefined) return [];
      const place = (['query', 'header', 'cookie'] as const).find(
        (each) => each === textIn(scheme, 'in'),
      );
      const parameter = textIn(scheme, 'name');
      const said = textIn(scheme, 'scheme');
      return [
        {
          name,
          type,
          ...(said !== undefined && { scheme: said }),
          ...(type === 'apiKey' && place !== undefined && parameter !== undefined
            ? { in: place, parameter }
            : {}),
        },
      ];
    } catch (error) {
      if (error instanceof UnsupportedError) return [];
      throw error;
    }
  });
}
