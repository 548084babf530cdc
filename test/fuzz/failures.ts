import type { Checker, Problem } from './checker.ts';
import type { FuzzRequest } from './draft.ts';
import type { Sender } from './send.ts';
import { replaceAt } from './wrong-bodies.ts';

/** One bug: all responses with the same problem of the same operation. */
export interface Failure extends Problem {
  /** The number of responses with it. */
  count: number;
  /** The first such request, its body reduced as far as replays allowed. */
  request: FuzzRequest;
}

export const keyOf = ({ operation, status, at }: Problem): string =>
  `${operation} | ${status} | ${at}`;

/** Limit of requests to reduce one body. */
const MAX_REPLAYS = 40;

/** Removes every part of the body and the query that is not needed to reproduce the problem. */
export async function shrink(
  given: FuzzRequest,
  problem: Problem,
  { sender, checker }: { sender: Sender; checker: Checker },
): Promise<FuzzRequest> {
  let replays = 0;
  const shows = async (request: FuzzRequest): Promise<boolean> => {
    replays += 1;
    const found = checker.check(request, await sender.send(request));
    return found.some((each) => keyOf(each) === keyOf(problem));
  };
  if (problem.at === 'answer' || !(await shows(given))) return given;
  let smallest = given;
  const tryOut = async (smaller: FuzzRequest): Promise<boolean> => {
    if (replays >= MAX_REPLAYS || !(await shows(smaller))) return false;
    smallest = smaller;
    return true;
  };
  const [path = ''] = given.path.split('?');
  if (path !== given.path) await tryOut({ ...smallest, path });
  if (given.json === undefined) return smallest;
  // From the outermost parts inward: removing a larger part saves more.
  for (let depth = 1; depth <= 4; depth += 1) {
    for (const place of placesAt(smallest.json, depth)) {
      if (replays >= MAX_REPLAYS) return smallest;
      await tryOut(withJson(smallest, replaceAt(smallest.json, place, undefined)));
    }
  }
  return smallest;
}

const withJson = (request: FuzzRequest, json: unknown): FuzzRequest => ({
  ...request,
  json,
  bytes: Buffer.from(JSON.stringify(json)),
});

/** The last ones first, so that removing a list item does not shift the others. */
function placesAt(value: unknown, depth: number): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  const keys = Object.keys(value).map((key) => (Array.isArray(value) ? Number(key) : key));
  const all = keys.flatMap((key) =>
    depth === 1
      ? [[key]]
      : placesAt((value as Record<string, unknown>)[key], depth - 1).map((rest) => [key, ...rest]),
  );
  return all.toReversed();
}

/** Longer bodies are reported only by their length. */
const MAX_SHOWN = 1_500;

/**
 * The request as a shell command. Credentials are replaced by their names, since the tested service is gone by then.
 */
export function asCurl({ method, path, headers, credential, bytes }: FuzzRequest): string {
  const parts = ['curl', '-sS', '-X', method, `"$API"${quote(path)}`];
  for (const [name, values] of Object.entries(headers)) {
    if (name === 'x-forwarded-for') continue;
    for (const value of [values].flat()) {
      parts.push('-H', quote(`${name}: ${masked(name, value, credential)}`));
    }
  }
  if (bytes === undefined) return parts.join(' ');
  const text = bytes.toString('utf8');
  if (bytes.length > MAX_SHOWN) {
    return [
      ...parts,
      '--data-binary',
      quote(`${text.slice(0, 200)}... (${bytes.length} bytes)`),
    ].join(' ');
  }
  if (isPrintable(text)) return [...parts, '--data-binary', quote(text)].join(' ');
  return [`base64 -d <<< ${bytes.toString('base64')} |`, ...parts, '--data-binary @-'].join(' ');
}

const isPrintable = (text: string): boolean => !/[\p{C}\u2028\u2029\ufffd]/u.test(text);

const masked = (name: string, value: string, credential: string): string =>
  /^(?:authorization|x-api-key)$/.test(name) && /(?:ops_|svc_|Bearer ey).{20}/.test(value)
    ? `<${credential}>`
    : value;

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
