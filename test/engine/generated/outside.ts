import type { ServerResponse } from 'node:http';
import { TOOLS_URL } from '#test/graph/generated/build.ts';
import { planOf, type Plan } from '#test/graph/generated/plan.ts';
import type { World } from '#test/graph/generated/world.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { type Seen, sendJson, startHttpServer } from '#test/fakes/http-server.ts';

/** The tools of generated graphs: they answer and fail as the world of each graph says. */
export interface Outside {
  /** The graph with the address of this server. */
  connect: (name: string, graph: Graph, world: World) => Graph;
  /** The requests of each step of a graph. */
  requests: (name: string) => Map<string, number>;
  /** The first request of each step of a graph. */
  first: (name: string) => Map<string, Arrived>;
  /** The keys of the steps whose requests a run has sent. */
  sentBy: (runId: string) => ReadonlySet<string>;
  close: () => Promise<void>;
}

/** What arrived, and when: in ms since 1970. */
export interface Arrived {
  at: number;
  url: string;
  method: string;
  body: string;
}

interface Connected {
  plan: Plan;
  world: World;
  requests: Map<string, number>;
  first: Map<string, Arrived>;
}

export async function startOutside(): Promise<Outside> {
  const connected = new Map<string, Connected>();
  const sent = new Map<string, Set<string>>();
  const answer = ({ url, method, body, headers }: Seen, response: ServerResponse): void => {
    // A process that was slow can send a request after its run has ended, while another one of this graph is active.
    const [runId = '', stepKey = ''] = String(headers['idempotency-key']).split(':');
    sent.set(runId, (sent.get(runId) ?? new Set()).add(stepKey));
    const [path = '', query] = url.slice(1).split('?');
    const [name = '', id = '', ...counters] = path.split('/');
    const { plan, world, requests, first } = connected.get(name)!;
    const key = stepKeyOf(plan, id, counters.map(Number));
    const attempt = (requests.get(key) ?? 0) + 1;
    requests.set(key, attempt);
    if (attempt === 1) first.set(key, { at: Date.now(), url: server.url + url, method, body });
    if (query === 'slow') return;
    const fails = attempt <= world.failingAttempts(plan.nodes.get(id)!, key);
    sendJson(response, fails ? 500 : 200, { by: key });
  };
  const server = await startHttpServer(answer);
  return {
    connect: (name, graph, world) => {
      connected.set(name, { plan: planOf(graph), world, requests: new Map(), first: new Map() });
      const text = JSON.stringify(graph).replaceAll(TOOLS_URL, `${server.url}/${name}`);
      return JSON.parse(text) as Graph;
    },
    requests: (name) => connected.get(name)!.requests,
    first: (name) => connected.get(name)!.first,
    sentBy: (runId) => sent.get(runId) ?? new Set(),
    close: server.close,
  };
}

/** The counters in the address of a tool are the iterations of loops, from 1, and the indexes of maps, from 0. */
function stepKeyOf({ nodes, body }: Plan, id: string, counters: number[]): string {
  const around: string[] = [];
  for (let head = body.get(id); head !== undefined; head = body.get(head)) around.unshift(head);
  const iteration = counters.map((counter, depth) =>
    nodes.get(around[depth]!)!.kind === 'map' ? counter + 1 : counter,
  );
  return iteration.length === 0 ? id : `${id}#${iteration.join('.')}`;
}
