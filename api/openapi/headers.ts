import type { OpenAPIV3_1 } from 'openapi-types';

type Header = OpenAPIV3_1.HeaderObject;

const count = (description: string): Header => ({
  description,
  schema: { type: 'integer', minimum: 0 },
});

const text = (description: string, rest: { required?: boolean; example?: string } = {}): Header => {
  const { example, ...header } = rest;
  return {
    description,
    ...header,
    schema: { type: 'string', ...(example === undefined ? {} : { examples: [example] }) },
  };
};

/** Every response header that a program may want to read, by its name. */
export const headers = {
  'X-Request-Id': text('Identifies the request in the logs: the id that was sent, or a new one', {
    required: true,
    example: 'req_01jc0000000000000000000000',
  }),
  'X-RateLimit-Limit': count('Requests per minute for an address, where there is a limit'),
  'X-RateLimit-Remaining': count('Requests left in this minute'),
  'X-RateLimit-Reset': count('Seconds until the count resets'),
  'RateLimit-Limit': count('Requests per month, by the plan or the key, where there is a limit'),
  'RateLimit-Remaining': count('Requests left in this month'),
  'RateLimit-Reset': count('Seconds until the month ends'),
  'X-Credits-Consumed': count('Credits that this call cost'),
  'X-Credits-Remaining': count('Credits left in this month, where there is a limit'),
  'Retry-After': {
    ...count('Seconds to wait before a retry'),
    required: true,
  },
  'WWW-Authenticate': text('The scheme of the credential', { required: true, example: 'Bearer' }),
  Allow: text('The methods that the address supports', { required: true, example: 'GET, HEAD' }),
  ETag: text('The entity tag of the record, for `If-Match`', {
    example: '"5Yk3bVw2m0d1Qe8rTz7xUA"',
  }),
  Location: text('Path of the resource', { required: true }),
  'Set-Cookie': text('Binds the sign-in to this browser', { required: true }),
  'Idempotent-Replayed': text(
    '`true` when an earlier request with this key started the run, or got this answer',
  ),
  'Debounce-Joined': text(
    '`true` when the run had waited for further requests, and got the input of this one',
  ),
  'Content-Disposition': text("The CSV file's name", {
    example: 'attachment; filename="entities.csv"',
  }),
  'X-Export-Truncated': text('`true` when there are more rows than were exported'),
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof headers;

/** On responses of limited addresses. */
export const rateHeaders: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/** On responses to keys of the data API. */
export const allowanceHeaders: readonly HeaderName[] = [
  'X-Credits-Consumed',
  'X-Credits-Remaining',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
];

/** On errors, by their status. */
export const refusalHeaders: Readonly<Record<number, HeaderName>> = {
  401: 'WWW-Authenticate',
  405: 'Allow',
  412: 'ETag',
  429: 'Retry-After',
  503: 'Retry-After',
};

/** References to these headers, as a response lists them. */
export const referTo = (
  names: readonly HeaderName[],
): Record<string, OpenAPIV3_1.ReferenceObject> =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
