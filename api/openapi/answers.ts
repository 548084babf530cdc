import { STATUS_CODES } from 'node:http';
import type { RouteOptions } from 'fastify';
import { type ErrorCode, errorTable } from '../../shared/errors.ts';
import { isProbe } from '../http/rate-limit.ts';
import {
  allowanceHeaders,
  type HeaderName,
  rateHeaders,
  referTo,
  refusalHeaders,
} from './headers.ts';

/** What every route of a surface answers is said here, once, by what the route declares. */

export interface Answer {
  $ref?: string;
  description?: string;
  headers?: Record<string, unknown>;
  content?: Record<string, { schema?: { $ref?: string } }>;
}

/** What the answers of a route follow from. */
export interface RouteFacts {
  statuses: readonly number[];
  headers: readonly HeaderName[];
  common: readonly HeaderName[];
}

/** Whoever asks and whatever for. */
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
  402: 'A quota or a budget is used up',
  403: 'The credential does not allow this',
  404: 'Not found, or in another workspace',
  405: 'For a method that this address does not take',
  409: 'The state of the resource does not allow this',
  413: 'The body is larger than 1 MB',
  415: 'The body is compressed, or of another media type',
  422: 'The `Idempotency-Key` came with another body before',
  429: 'Too many requests',
  500: 'An error of the service; `X-Request-Id` names it in the logs',
  503: 'The service cannot do this at the moment',
};

/** What some of them mean in the data API. */
const dataMeanings: Readonly<Record<number, string>> = {
  402: 'The credits are used up',
  422: 'The body is invalid',
  429: 'Too many requests, or the allowance of the month is used up',
};

/** The codes that the framework, the limits and the guards of the surface may refuse any such route with. */
function refusalsOf({ url, method, config = {} }: RouteOptions): ErrorCode[] {
  const codes = isProbe(url) ? (['invalid', 'method_not_allowed'] as const) : anyRoute;
  const takesBody = ![method].flat().every((each) => each === 'GET' || each === 'HEAD');
  const of = (condition: boolean, code: ErrorCode) => (condition ? [code] : []);
  return [
    ...codes,
    ...of(url.includes(':'), 'not_found'),
    ...of(takesBody, 'too_large'),
    ...of(takesBody && config.anyMediaType !== true, 'unsupported_media_type'),
    // The data API tells a body that is wrong from a query that is.
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
  };
}

/** The answers of a route: those it declares, and the refusals that every such route has, with their headers. */
export function completeAnswers(
  declared: Record<string, Answer>,
  { statuses, headers, common }: RouteFacts,
): Record<string, Answer> {
  const answers: Record<string, Answer> = {
    ...Object.fromEntries(statuses.map((status) => [status, refusal(status)])),
    ...declared,
  };
  for (const [status, answer] of Object.entries(answers)) {
    const code = Number(status);
    if (isRefusal(answer)) answers[status] = refusal(code);
    else if (code >= 200) {
      answer.headers = referTo([...common, ...(code < 400 ? headers : headersOf(code))]);
      answer.description = described(answer.description, code);
    }
  }
  return answers;
}

/** Every refusal of a surface in the one shape, for `components.responses`. `common` are the headers of all its answers. */
export function commonRefusals(common: readonly HeaderName[]): Record<string, Answer> {
  const isData = allowanceHeaders.some((name) => common.includes(name));
  const said = isData ? { ...meanings, ...dataMeanings } : meanings;
  return Object.fromEntries(
    Object.entries(said).map(([status, description]) => {
      const code = Number(status);
      // Nobody knows yet whose allowance to tell.
      const told =
        code === 401 ? common.filter((name) => !allowanceHeaders.includes(name)) : common;
      const answer: Answer = {
        description,
        headers: referTo([...told, ...headersOf(code)]),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      };
      return [nameOf(code), answer];
    }),
  );
}

const headersOf = (status: number): HeaderName[] => {
  const name = refusalHeaders[status];
  return name === undefined ? [] : [name];
};

const described = (description: string | undefined, status: number): string =>
  description === undefined || description === 'Default Response'
    ? (STATUS_CODES[status] ?? 'Answer')
    : description;

const nameOf = (status: number): string =>
  (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');

const refusal = (status: number): Answer => ({ $ref: `#/components/responses/${nameOf(status)}` });

const isRefusal = ({ $ref, content }: Answer): boolean =>
  $ref !== undefined ||
  content?.['application/json']?.schema?.$ref === '#/components/schemas/Error';
