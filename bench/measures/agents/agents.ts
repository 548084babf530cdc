import { createServer, type Server } from 'node:http';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { MAX_TURNS } from '#shared/contract/workflows/agent-node.ts';
import { atMost, compareSamples, figure, compare, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { flood, interleave, median, timed } from '#bench/statistics.ts';

const limits = { count: 100, least: 20, budgetMs: 40_000 };
const turnsOfLong = MAX_TURNS;

/** The number of calls in each of a model's turns; none to answer. */
type Script = (turn: number) => number;

/** Two calls, one call, the answer. */
const short: Script = (turn) => [2, 1, 0][turn - 1] ?? 0;
/** One call in each turn. */
const long: Script = (turn) => (turn < turnsOfLong ? 1 : 0);

/**
 * An agent with three turns and three calls, against a model and a tool that respond immediately; and the duration of a
 * turn at the beginning and end of a long conversation. The baseline makes the same requests in bare activities.
 */
export async function agents({ service, bare, modelPort }: Stack): Promise<Result[]> {
  const server = await answerAtOnce(modelPort);
  const tool = `http://127.0.0.1:${modelPort}/tool`;
  const model = `http://127.0.0.1:${modelPort}/model`;
  try {
    const workflow = await service.define('An agent', agent('compatible/short', tool));
    const ours = () => timed(() => service.run(workflow));
    const stages = [[model], [tool, tool], [model], [tool], [model]];
    const baseline = () => timed(() => bare.post(stages));
    for (const work of [ours, baseline]) await flood(20, 1, work);
    return [
      compareSamples(await interleave(limits, ours, baseline), {
        measure: 'agent of 3 turns and 3 calls / the same requests in bare activities',
        unit: 'ms',
        bound: atMost(1.3),
      }),
      await longConversation(service, tool),
    ];
  } finally {
    server.close();
  }
}

async function longConversation(service: Stack['service'], tool: string): Promise<Result> {
  const workflow = await service.define('A long conversation', agent('compatible/long', tool));
  const first: number[] = [];
  const last: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const { steps } = await service.read(await service.run(workflow));
    const starts = steps
      .filter((step) => step.turn !== undefined && step.tool_call === undefined)
      .map((step) => Date.parse(step.started_at));
    const durations = starts.slice(1).map((at, n) => at - starts[n]!);
    first.push(...durations.slice(0, 10));
    last.push(...durations.slice(-10));
  }
  return compare({
    measure: `a turn with a call: the last ten of ${turnsOfLong} / the first ten`,
    unit: 'ms',
    ours: figure(last),
    baseline: figure(first),
    value: median(last) / median(first),
    bound: atMost(1.3),
    notes: ['both are ours'],
  });
}

function agent(model: string, url: string): GraphInput {
  const args = { url, method: 'POST' };
  const call = { name: 'http_request', on_error: 'fail', ['fixed']: args } as const;
  const node = { id: 'agent', kind: 'agent', prompt: 'x', model, max_turns: turnsOfLong } as const;
  return { nodes: [{ ...node, tools: [call] }], edges: [] };
}

/** A model with OpenAI's protocol, streamed as the service requests it, and a tool. */
async function answerAtOnce(port: number): Promise<Server> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url !== '/v1/chat/completions') {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}');
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Question;
      const turn = 1 + body.messages.filter(({ role }) => role === 'assistant').length;
      const calls = (body.model === 'long' ? long : short)(turn);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(eventsOf(calls, turn));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return server;
}

interface Question {
  model: string;
  messages: { role: string }[];
}

function eventsOf(calls: number, turn: number): string {
  const delta =
    calls === 0
      ? { role: 'assistant', content: 'done' }
      : {
          role: 'assistant',
          tool_calls: Array.from({ length: calls }, (_, index) => ({
            index,
            id: `call_${turn}_${index}`,
            type: 'function',
            function: { name: 'http_request', arguments: '{"body":{"n":1}}' },
          })),
        };
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const chunk = (choice: object, rest: object = {}) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice], ...rest })}\n\n`;
  const finish = calls === 0 ? 'stop' : 'tool_calls';
  return `${chunk({ index: 0, delta })}${chunk({ index: 0, delta: {}, finish_reason: finish }, { usage })}data: [DONE]\n\n`;
}
