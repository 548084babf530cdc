import { closingSocket } from '#test/fakes/closing-socket.ts';
import { createClient } from '#client/index.ts';

interface Reached {
  /** The operations that the methods of a client request, each with the names of these methods: `POST /api/runs/{}/fork`. */
  all: Map<string, Set<string>>;
  /** Those that send the tag of the options. */
  conditional: Set<string>;
}

/** Calls every method of a client with ids, an empty body and options. Nothing is sent. */
export async function operationsReached(): Promise<Reached> {
  const all: Reached['all'] = new Map();
  const conditional = new Set<string>();
  let name = '';
  const note = (method: string, url: string, headers: object = {}): void => {
    const path = new URL(url).pathname.replaceAll(/\b(?:first|second|7)\b/g, '{}');
    const operation = `${method} ${path}`;
    all.set(operation, (all.get(operation) ?? new Set()).add(name));
    if ('if-match' in headers) conditional.add(operation);
  };
  const client = createClient({
    fetch: async (url, init) => {
      note(init?.method ?? '', url as string, init?.headers);
      const isList = (url as string).endsWith('/api/workflows');
      return new Response(isList ? WORKFLOWS : LISTS);
    },
    webSocket: closingSocket((url) => note('GET', url)),
  });
  for (const [each, method] of Object.entries(client) as [string, Method][]) {
    name = each;
    const second = each === 'getVersion' ? 7 : 'second';
    const known = { ifMatch: 'tag' };
    for (const given of [
      ['first', second, {}],
      [known, {}],
      ['first', known, known],
      ['first', second, known],
    ]) {
      await callOrIterate(() => method(...given));
    }
  }
  return { all, conditional };
}

type Method = (...args: unknown[]) => unknown;

const LISTS = '{"runs": [], "approvals": [], "versions": [], "logs": [], "events": []}';
/** A method that takes a name finds the workflow. */
const WORKFLOWS = '[{"id": "first", "name": "first"}]';

/** Errors from fields that the fake response lacks, or from arguments of another method, do not matter here. */
async function callOrIterate(call: () => unknown): Promise<void> {
  try {
    const result = call() as AsyncGenerator | Promise<unknown>;
    await (Symbol.asyncIterator in result ? result.next() : result);
  } catch {}
}
