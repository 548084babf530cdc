import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FuzzRequest } from './draft.ts';
import {
  type OpenApiDocument,
  type Operation,
  pointerTo,
  type ResponseDescription,
  type Schema,
} from './document.ts';
import { mcpProblems, messagesOf, type McpProblem, type McpTool } from './mcp.ts';

/** A response. */
export interface Answer {
  /** 0: no response; the body has the reason. */
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
  ms: number;
}

/** One defect of a response. Problems with the same operation, status and place are the same bug. */
export interface Problem {
  operation: string;
  status: number;
  /** The place in the schema of the response, or the check's name. */
  at: string;
  problem: string;
}

export interface Checker {
  /** Returns all problems of a response. */
  check(request: FuzzRequest, answer: Answer): Problem[];
  /** Whether the document allows this request body. */
  allows(operation: Operation, json: unknown): boolean;
}

/** Longer than any synchronous work of the service, and shorter than a caller's timeout. */
export const ANSWER_MS = 15_000;

/** At most this many problems per value. */
const MAX_PROBLEMS = 3;

export function createChecker(
  documents: Record<string, OpenApiDocument>,
  tools: readonly McpTool[] = [],
): Checker {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    coerceTypes: false,
    validateFormats: true,
  });
  addFormats.default(ajv);
  // These formats always have a pattern as well.
  for (const format of ['cidrv4', 'cidrv6']) ajv.addFormat(format, true);
  const names = new Map<OpenApiDocument, string>();
  for (const [name, document] of Object.entries(documents)) {
    names.set(document, name);
    ajv.addSchema({ $id: `fuzz:${name}`, ...(document as object) });
  }
  const compiled = new Map<string, ValidateFunction>();
  const at = (operation: Operation, ...rest: string[]): ValidateFunction => {
    const name = names.get(operation.document) ?? '';
    const pointer = pointerTo(operation, ...rest);
    const key = `fuzz:${name}#${pointer}`;
    let validate = compiled.get(key);
    if (validate === undefined) {
      validate = ajv.compile({ $ref: `fuzz:${name}#${encodeURI(pointer)}` });
      compiled.set(key, validate);
    }
    return validate;
  };
  const outputs = new Map(
    tools.flatMap(({ name, outputSchema }) =>
      outputSchema === undefined ? [] : [[name, ajv.compile(outputSchema as object)] as const],
    ),
  );
  const toolProblems = (tool: string, value: unknown): McpProblem[] => {
    const validate = outputs.get(tool);
    if (validate === undefined || validate(value)) return [];
    return tell(validate.errors).map((each) => ({ ...each, at: `${tool}${each.at}` }));
  };

  /** The values that the schema describes: a list of messages gets a list of responses. */
  const describedIn = ({ surface }: Operation, sent: unknown, value: unknown): unknown[] =>
    surface === 'mcp' && Array.isArray(sent) ? messagesOf(value) : [value];

  const bodyProblems = (
    operation: Operation,
    response: ResponseDescription,
    request: FuzzRequest,
    answer: Answer,
  ): Found[] => {
    const { status } = answer;
    const declared = Object.keys(response.content ?? {});
    const type = mediaType(answer);
    if (declared.length === 0) {
      return answer.body.length === 0
        ? []
        : [{ at: 'body', problem: 'is there, although none is documented' }];
    }
    if (type === undefined || !declared.some((each) => each.split(';')[0]?.trim() === type)) {
      return [
        { at: 'content type', problem: `${type ?? 'none'}, documented: ${declared.join(', ')}` },
      ];
    }
    if (!type.includes('json')) return [];
    const values = type.includes('ndjson') ? parseLines(answer.body) : [parse(answer.body)];
    if (!values.every((body) => body !== undefined)) {
      return [{ at: 'body', problem: 'is not JSON' }];
    }
    const media = declared.find((each) => each.split(';')[0]?.trim() === type) ?? '';
    const direct = operation.responses[String(status)] === undefined ? 'default' : String(status);
    const schema = response.content?.[media]?.schema;
    if (schema === undefined) return [];
    const validate = isReferenced(operation, direct)
      ? compileSchema(ajv, compiled, names.get(operation.document) ?? '', schema)
      : at(operation, 'responses', direct, 'content', media, 'schema');
    return values
      .flatMap(({ value }) => describedIn(operation, request.json, value))
      .flatMap((value) => (validate(value) ? [] : tell(validate.errors)));
  };

  const documented = (operation: Operation, request: FuzzRequest, answer: Answer): Found[] => {
    const { status } = answer;
    if (isBeforeRouting(answer)) return refusalProblems(answer);
    const response = operation.responses[String(status)] ?? operation.responses['default'];
    if (response === undefined) {
      return [{ at: 'status', problem: `is not documented: ${textOf(answer).slice(0, 200)}` }];
    }
    const found = [
      ...bodyProblems(operation, response, request, answer),
      ...headerProblems(response, answer, ajv),
    ];
    if (operation.surface === 'mcp' && status === 200) {
      const body = parse(answer.body)?.value;
      found.push(...mcpProblems(request.json ?? parse(request.bytes)?.value, body, toolProblems));
    }
    return found;
  };

  const allows: Checker['allows'] = (operation, json) => {
    if (operation.body === undefined || json === undefined) return true;
    const validate = at(operation, 'requestBody', 'content', 'application/json', 'schema');
    // `every` stops at the first invalid value and keeps its errors.
    return describedIn(operation, json, json).every((value) => validate(value));
  };

  return {
    allows,
    check: (request, answer) => {
      const operation = request.operation;
      const name = operation?.name ?? `${request.method} at no documented address`;
      const { status } = answer;
      const found: Found[] = [];
      if (status === 0) {
        if (isLeft(request)) return [];
        found.push({ at: 'answer', problem: `did not come: ${textOf(answer)}` });
      } else {
        found.push(...anyAnswer(answer));
        if (operation !== undefined) found.push(...documented(operation, request, answer));
        else found.push(...undocumented(request, answer));
        if (status < 300 && operation !== undefined && !judgesItself(operation)) {
          if (request.unreadable) {
            found.push({ at: 'accepted', problem: `a request with ${request.how.join(', ')}` });
          } else if (!allows(operation, request.json)) {
            const [first] = tell(
              at(operation, 'requestBody', 'content', 'application/json', 'schema').errors,
            );
            found.push({
              at: `accepted ${first?.at ?? ''}`,
              problem: `a body that the document forbids: ${first?.problem}`,
            });
          }
        }
      }
      return found.map((each) => ({ operation: name, status, ...each }));
    },
  };
}

/** A hook accepts any body; a batch of records is validated per record, and the response lists the refused ones. */
const judgesItself = ({ id, surface }: Operation): boolean =>
  surface === 'hooks' || id === 'ingestRecords';

interface Found {
  at: string;
  problem: string;
}

const isReferenced = (operation: Operation, status: string): boolean => {
  const item = operation.document.paths[operation.path]?.[operation.method.toLowerCase()];
  return item?.responses?.[status]?.$ref !== undefined;
};

/** Compiles a schema outside its document, for a response that is itself a reference. */
function compileSchema(
  ajv: Ajv2020,
  compiled: Map<string, ValidateFunction>,
  document: string,
  schema: Schema,
): ValidateFunction {
  const key = JSON.stringify(schema);
  let validate = compiled.get(key);
  if (validate === undefined) {
    const text = key.replaceAll('"$ref":"#/', `"$ref":"fuzz:${document}#/`);
    compiled.set(key, (validate = ajv.compile(JSON.parse(text) as object)));
  }
  return validate;
}

/** One entry per place, ignoring list indices. */
function tell(errors: ErrorObject[] | null | undefined): Found[] {
  const seen = new Map<string, Found>();
  for (const { instancePath, keyword, message, params } of errors ?? []) {
    const place = instancePath.replaceAll(/\/\d+(?=\/|$)/g, '/*');
    const about = params as { additionalProperty?: string; missingProperty?: string };
    const detail = about.additionalProperty ?? about.missingProperty ?? '';
    const at = `${place} ${keyword}${detail === '' ? '' : ` ${detail}`}`;
    if (!seen.has(at)) seen.set(at, { at, problem: message ?? keyword });
  }
  return [...seen.values()].slice(0, MAX_PROBLEMS);
}

const mediaType = ({ headers }: Answer): string | undefined =>
  String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim() || undefined;

const textOf = ({ body }: Answer): string => body.toString('utf8');

const utf8 = new TextDecoder();

/** The value of each line; none in an empty body. */
const parseLines = (body: Buffer): ReturnType<typeof parse>[] =>
  body
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parse(Buffer.from(line)));

function parse(body: Buffer = Buffer.alloc(0)): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(utf8.decode(body)) };
  } catch {
    return undefined;
  }
}

/** Internal details: stack frames, files, statements, names of the driver. */
const insides =
  /\n\s+at .+:\d+:\d+|node_modules\/|node:internal|\.ts:\d+|SlonikError|FastifyError|ZodError|\bviolates \w+ constraint|syntax error at or near|relation "\w+"|ECONNREFUSED \d/;

/** The service need not read a body that is too large: the connection can close while the client still writes. */
const isLeft = ({ bytes }: FuzzRequest): boolean => (bytes?.length ?? 0) > 1_048_576;

/** An unparsable request gets a response on the raw connection, without an operation or a request id. */
const isBeforeRouting = ({ status, headers }: Answer): boolean =>
  [400, 408, 431].includes(status) &&
  headers['connection'] === 'close' &&
  headers['x-request-id'] === undefined;

/** Checks that apply to every response. */
function anyAnswer(answer: Answer): Found[] {
  const { status, headers, ms } = answer;
  const found: Found[] = [];
  const text = textOf(answer);
  if (status >= 500) {
    found.push({ at: 'fault', problem: `answered ${status}: ${text.slice(0, 300)}` });
  }
  if (status >= 400) {
    const trace = insides.exec(text)?.[0];
    if (trace !== undefined) {
      found.push({ at: 'leak', problem: `tells of the inside: ${JSON.stringify(trace)}` });
    }
  }
  if (headers['x-request-id'] === undefined && status !== 101 && !isBeforeRouting(answer)) {
    found.push({ at: 'header x-request-id', problem: 'is missing' });
  }
  if (ms > ANSWER_MS) found.push({ at: 'time', problem: `took ${Math.round(ms)} ms` });
  return found;
}

/** An undocumented address or method must be refused. */
function undocumented({ method, path }: FuzzRequest, answer: Answer): Found[] {
  const { status, headers } = answer;
  if (method === 'HEAD') {
    return answer.body.length === 0 ? [] : [{ at: 'body', problem: 'answers HEAD' }];
  }
  if (method === 'OPTIONS' && status < 300) return [];
  const isApi = /^\/(api|v1)\//.test(path);
  if (status < 400) {
    // Pages of the console, and redirects to them.
    return isApi
      ? [{ at: 'status', problem: `${method} is answered without being documented` }]
      : [];
  }
  const found = refusalProblems(answer);
  if (status === 405 && headers['allow'] === undefined) {
    found.push({ at: 'header allow', problem: 'is missing' });
  }
  return found;
}

/** `{"detail": "..."}` and nothing else, or the error format of the Model Context Protocol. */
function refusalProblems(answer: Answer): Found[] {
  const body = parse(answer.body)?.value as Record<string, unknown> | undefined;
  if (mediaType(answer) !== 'application/json') {
    return [{ at: 'content type', problem: mediaType(answer) ?? 'none' }];
  }
  if (body?.['jsonrpc'] === '2.0') return [];
  const isRefusal =
    typeof body === 'object' &&
    body !== null &&
    Object.keys(body).join() === 'detail' &&
    typeof body['detail'] === 'string';
  return isRefusal
    ? []
    : [{ at: 'refusal', problem: `is not {"detail": "..."}: ${textOf(answer).slice(0, 200)}` }];
}

function headerProblems(response: ResponseDescription, { headers }: Answer, ajv: Ajv2020): Found[] {
  return Object.entries(response.headers ?? {}).flatMap(([name, { required, schema }]) => {
    const value = headers[name.toLowerCase()];
    if (value === undefined) {
      return required === true ? [{ at: `header ${name}`, problem: 'is missing' }] : [];
    }
    if (schema === undefined || schema.$ref !== undefined) return [];
    const number =
      typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
    const read = schema.type === 'integer' || schema.type === 'number' ? number : value;
    return ajv.validate(schema as object, read)
      ? []
      : [{ at: `header ${name}`, problem: `is ${String(value)}` }];
  });
}
