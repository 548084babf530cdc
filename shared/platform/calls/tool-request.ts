import { referenceOf } from '#shared/contract/tools/tool-auth.ts';
import type { CustomTool } from '#shared/db/tools/custom-tools.ts';
import type { JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import { buildRequest } from '#shared/openapi/request.ts';
import { contentTypeIn, fieldsOf, formOf, isForm } from '#shared/values/form.ts';

/** The request of an HTTP tool for these arguments, without the service's own headers. */
export interface ToolRequest {
  url: string;
  headers: Record<string, string>;
  body?: string;
}

/** What a call authenticates with besides the headers of the tool. */
export interface Credentials {
  headers: Record<string, string>;
  query: Record<string, string>;
}

/** The credentials of `auth`. `fill` replaces references to secrets in the texts of an object. */
export function credentialsOf(
  { auth }: Pick<CustomTool, 'auth'>,
  fill: (texts: Record<string, string>) => Record<string, string>,
): Credentials {
  if (auth === null) return { headers: {}, query: {} };
  const { source, name: value } = referenceOf(auth);
  const reference = `{${source}.${value}}`;
  const [kind, name] = splitAtColon(auth.as);
  switch (kind) {
    case 'basic': {
      const { user = '' } = fill({ user: reference });
      return {
        headers: { Authorization: `Basic ${Buffer.from(user, 'utf8').toString('base64')}` },
        query: {},
      };
    }
    case 'header':
      return { headers: fill({ [name]: reference }), query: {} };
    case 'query':
      return { headers: {}, query: fill({ [name]: reference }) };
    default:
      return { headers: fill({ Authorization: `Bearer ${reference}` }), query: {} };
  }
}

function splitAtColon(text: string): [string, string] {
  const at = text.indexOf(':');
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/**
 * The request for these arguments. For a tool of an API document, its mapping says where each stands. Otherwise they are
 * the query of GET and HEAD, and else the body. The headers and parameters of the tool win over those of arguments.
 * Throws a final NodeError for arguments that cannot be sent.
 */
export function toolRequest(tool: CustomTool, args: JsonObject, own: Credentials): ToolRequest {
  const { name, method, endpoint_url: endpoint, request: mapping } = tool;
  if (mapping !== null) {
    const built = buildRequest(mapping, args);
    if ('problem' in built) {
      throw new NodeError(`Tool '${name}': ${built.problem}`, { retryable: false });
    }
    const headers = { ...without(built.headers, own.headers), ...own.headers };
    return { ...built, headers, url: withCredentials(built.url, own.query) };
  }
  const { headers } = own;
  if (method === 'GET' || method === 'HEAD') return { url: withQuery(endpoint, args), headers };
  const body = bodyFor(args, headers);
  return contentTypeIn(headers) === undefined
    ? { url: endpoint, headers: { 'Content-Type': 'application/json', ...headers }, body }
    : { url: endpoint, headers, body };
}

function without(
  headers: Record<string, string>,
  others: Record<string, string>,
): Record<string, string> {
  const names = new Set(Object.keys(others).map((name) => name.toLowerCase()));
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !names.has(name.toLowerCase())),
  );
}

/** An argument cannot add a second value for a parameter of the credentials. The others keep their spelling. */
function withCredentials(text: string, query: Record<string, string>): string {
  const added = Object.entries(query);
  if (added.length === 0) return text;
  const [target = '', written = ''] = text.split('?', 2);
  const others = written
    .split('&')
    .filter((pair) => pair !== '' && added.every(([name]) => !new URLSearchParams(pair).has(name)));
  return `${target}?${[...others, new URLSearchParams(query).toString()].join('&')}`;
}

/** A form if the tool's content type says so; otherwise JSON. */
const bodyFor = (args: JsonObject, headers: Record<string, string>): string =>
  isForm(contentTypeIn(headers)) ? formOf(args) : JSON.stringify(args);

/** Null omits an argument and a list repeats it; objects, even in lists, are sent as JSON. */
function withQuery(text: string, args: JsonObject): string {
  const url = new URL(text);
  for (const [name, value] of fieldsOf(args)) url.searchParams.append(name, value);
  return url.href;
}
