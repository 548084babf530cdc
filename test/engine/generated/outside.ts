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
  close: () => Promise<void>;
}

interface Connected {
  plan: Plan;
  world: World;
  requests: Map<string, number>;
}

export async function startOutside(): Promise<Outside> {
  const connected = new Map<string, Connected>();
  const answer = ({ url }: Seen, response: ServerResponse): void => {
    const [path = '', query] = url.slice(1).split('?');
    const [name = '', id = '', ...counters] = path.split('/');
    const { plan, world, requests } = connected.get(name)!;
    const key = stepKeyOf(plan, id, counters.map(Number));
    const attempt = (requests.get(key) ?? 0) + 1;
    requests.set(key, attempt);
    if (query === 'slow') return;
    const fails = attempt <= world.failingAttempts(plan.nodes.get(id)!, key);
    sendJson(response, fails ? 500 : 200, { by: key });
  };
  const server = await startHttpServer(answer);
  return {
    connect: (name, graph, world) => {
      connected.set(name, { plan: planOf(graph), world, requests: new Map() });
      const text = JSON.stringify(graph).replaceAll(TOOLS_URL, `${server.url}/${name}`);
      return JSON.parse(text) as Graph;
    },
    requests: (name) => connected.get(name)!.requests,
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
