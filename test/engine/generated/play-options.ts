import { after, failure, type Mock, type PlayOptions } from '#client/testing.ts';
import type { GateNode, Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { childWorkflow } from '#test/graph/generated/build.ts';
import { hash, missesDeadline, type World } from '#test/graph/generated/world.ts';

type Decide = Extract<
  NonNullable<PlayOptions['decisions']>[string],
  (...given: never[]) => unknown
>;
type Mocks = NonNullable<PlayOptions['mocks']>;

/** What `play` needs to give the answers, errors and decisions of a world. `graph` has the address of the tools. */
export function playOptions(graph: Graph, input: JsonObject, world: World): PlayOptions {
  const code = graph.nodes.filter(({ kind }) => kind === 'code');
  const uses = (text: string): boolean => JSON.stringify(graph).includes(text);
  return {
    input,
    mocks: {
      tools: {
        // A mock of a tool that no node calls is a mistake.
        ...(uses('"http_request"') ? { http_request: requestMock(graph, world) } : {}),
        ...(uses('"send_email"') ? { send_email: refusedMail } : {}),
      },
      nodes: Object.fromEntries(code.map((node) => [node.id, codeMock(node, world)])),
    } satisfies Mocks,
    ...(uses(childWorkflow.name) ? { workflows: { [childWorkflow.name]: childWorkflow } } : {}),
    decisions: Object.fromEntries(
      graph.nodes.flatMap((node): [string, Decide][] => {
        if (node.kind === 'human_gate') return [[node.id, gateDecision(node, world)]];
        return node.kind === 'agent' && node.tools !== undefined ? [[node.id, callDecision]] : [];
      }),
    ),
  };
}

const refusedMail = failure("Tool 'send_email' is not allowed in this workflow", {
  error_kind: 'policy',
  retryable: false,
});

const requestMock =
  (graph: Graph, world: World): Mock =>
  ({ url }, { step_key, node_id, attempt }) => {
    const node = graph.nodes.find(({ id }) => id === node_id)!;
    if (isSlow(url as string)) return after(60, { status: 200 });
    if (attempt > world.failingAttempts(node, step_key)) {
      return { status: 200, body: { by: step_key } };
    }
    const { host } = new URL(url as string);
    return failure(`${host} answered 500: {"by":"${step_key}"}`);
  };

const isSlow = (url: string): boolean => url.endsWith('?slow');

/** What its sandbox says on the service. */
const codeMock = (node: GraphNode, world: World): object =>
  world.failingAttempts(node, node.id) > 0
    ? failure(`${node.id} (line 1, column 39)`)
    : { by: node.id };

const gateDecision =
  (node: GateNode, world: World): Decide =>
  ({ step_key }) => {
    const end = world.gate(node, step_key, 1);
    return 'failed' in end || missesDeadline(node) ? 'timeout' : end;
  };

/** As the members of the tests on the service decide. */
const callDecision: Decide = ({ step_key }) => ({ approved: hash(step_key) % 2 === 0 });
