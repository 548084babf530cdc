import { STATUS_CODES } from 'node:http';
import type { RouteOptions } from 'fastify';
import { type ErrorCode, errorTable } from '#shared/errors.ts';
import { isProbe } from '#api/http/rate-limit.ts';
import {
  allowanceHeaders,
  type HeaderName,
  rateHeaders,
  referTo,
  refusalHeaders,
} from './headers.ts';

/** The responses of every route of an API, derived once from the route's declarations. */

export interface RouteResponse {
  $ref?: string;
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema?: { $ref?: string } }>;
}

/** The declarations that determine the responses of a route. */
export interface RouteFacts {
  statuses: readonly number[];
  headers: readonly HeaderName[];
  common: readonly HeaderName[];
  /** Whether it reads or changes a record with an entity tag. */
  tagged: boolean;
}

/** Errors that do not depend on the caller or the route. */
const anyRoute: readonly ErrorCode[] = [
  'invalid',
  'unauthenticated',
  'forbidden',
  'method_not_allowed',
  'rate_limited',
  'internal',
  'unavailable',
];

const meanings: Readonly<Record<number, string>> = {
  400: 'A parameter or the body is invalid',
  401: 'The credential is missing, invalid, expired or revoked',
  402: 'A quota or a budget is exhausted',
  403: 'The credential does not allow this',
  404: 'Not found, or in another workspace',
  405: 'This address does not support the method',
  409: 'The state of the resource does not allow this, or a request with the `Idempotency-Key` is in progress',
  410: 'Nothing waits for this any more',
  412: 'The record is not as `If-Match` says',
  413: 'The body is larger than 1 MB',
  415: 'The body is compressed, or of another media type',
  422: 'The `Idempotency-Key` was used with another body',
  428: 'The change requires `If-Match`',
  429: 'Too many requests',
  500: 'An internal error; `X-Request-Id` identifies it in the logs',
  503: 'The service is temporarily unavailable',
};

/** The meanings that are different in the data API. */
const dataMeanings: Readonly<Record<number, string>> = {
  402: 'The credits are exhausted',
  422: 'The body is invalid, or the `Idempotency-Key` was used with another one',
  429: 'Too many requests, or the allowance of the month is exhausted',
};

/** The error codes that the framework, the limits and the guards of the API can return on such a route. */
function refusalsOf({ url, method, config = {} }: RouteOptions): ErrorCode[] {
  const codes = isProbe(url) ? (['invalid', 'method_not_allowed'] as const) : anyRoute;
  const takesBody = ![method].flat().every((each) => each === 'GET' || each === 'HEAD');
  const of = (condition: boolean, code: ErrorCode) => (condition ? [code] : []);
  return [
    ...codes,
    ...of(url.includes(':'), 'not_found'),
    ...of(takesBody, 'too_large'),
    ...of(takesBody && config.anyMediaType !== true, 'unsupported_media_type'),
    // The data API distinguishes an invalid body from an invalid query.
    ...of(takesBody && config.scope !== undefined, 'unprocessable'),
  ];
}

export function factsOf(route: RouteOptions): RouteFacts {
  const { url, config = {} } = route;
  const isData = config.scope !== undefined;
  const limits = isData ? allowanceHeaders : isProbe(url) ? [] : rateHeaders;
  return {
    statuses: [...new Set(refusalsOf(route).map((code) => errorTable[code].status))],
    headers: config.headers ?? [],
    common: ['X-Request-Id', ...limits],
    tagged: config.record !== undefined,
  };
}

/**
 * The responses of a route: its own, and the errors that all such routes share, with their headers. `tagged`: the
 * schemas of records with an entity tag.
 */
export function completeResponses(
  declared: Record<string, RouteResponse>,
  { statuses, headers, common, ...facts }: RouteFacts,
  tagged: ReadonlySet<string>,
): Record<string, RouteResponse> {
  const responses: Record<string, RouteResponse> = {
    ...Object.fromEntries(statuses.map((status) => [status, refusal(status)])),
    ...declared,
  };
  for (const [status, response] of Object.entries(responses)) {
    const code = Number(status);
    if (isRefusal(response)) responses[status] = refusal(code);
    else if (code >= 200) {
      const tag: HeaderName[] =
        facts.tagged || tagged.has(schemaOf(response) ?? '') ? ['ETag'] : [];
      const shown = response.content === undefined ? [] : tag;
      const own = code < 400 ? [...headers, ...shown] : headersOf(code);
      response.headers = referTo([...common, ...own]);
      response.description = described(response.description, code);
    }
  }
  return responses;
}

/** Every error of an API in one shape, for `components.responses`. `common` are the headers of all its responses. */
export function commonRefusals(common: readonly HeaderName[]): Record<string, RouteResponse> {
  const isData = allowanceHeaders.some((name) => common.includes(name));
  const said = isData ? { ...meanings, ...dataMeanings } : meanings;
  return Object.fromEntries(
    Object.entries(said).map(([status, description]) => {
      const code = Number(status);
      // The caller is unknown here, so there is no allowance to report.
      const shown =
        code === 401 ? common.filter((name) => !allowanceHeaders.includes(name)) : common;
      const response: RouteResponse = {
        description,
        headers: referTo([...shown, ...headersOf(code)]),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      };
      return [nameOf(code), response];
    }),
  );
}

const schemaOf = ({ content }: RouteResponse): string | undefined =>
  content?.['application/json']?.schema?.$ref;

const headersOf = (status: number): HeaderName[] => {
  const name = refusalHeaders[status];
  return name === undefined ? [] : [name];
};

const described = (description: string | undefined, status: number): string =>
  description === undefined || description === 'Default Response'
    ? (STATUS_CODES[status] ?? 'Response')
    : description;

const nameOf = (status: number): string =>
  (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');

const refusal = (status: number): RouteResponse => ({
  $ref: `#/components/responses/${nameOf(status)}`,
});

const isRefusal = (response: RouteResponse): boolean =>
  response.$ref !== undefined || schemaOf(response) === '#/components/schemas/Error';
