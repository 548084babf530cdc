import type { AuthorizationRequest } from '#console/src/queries/authorizations.ts';

export const AUTHORIZE_PATH = '/authorize';

/**
 * The query with which the browser opened the page. The router reads values as JSON and may write them in another form,
 * such as a long number in `state`, which the client compares.
 */
const opened = window.location.pathname === AUTHORIZE_PATH ? window.location.search : undefined;

export const openedQuery = (): string => opened ?? window.location.search;

const names = [
  'redirect_uri',
  'response_type',
  'code_challenge',
  'code_challenge_method',
  'resource',
  'scope',
  'state',
] as const;

/** The request in a query; undefined if a parameter is repeated, which would be ambiguous. Others are ignored. */
export function requestIn(query: string): AuthorizationRequest | undefined {
  const given = new URLSearchParams(query);
  const all = ['client_id', ...names];
  if (all.some((name) => given.getAll(name).length > 1)) return undefined;
  const fields = names.flatMap((name) => {
    const value = given.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { client_id: given.get('client_id') ?? '', ...Object.fromEntries(fields) };
}
