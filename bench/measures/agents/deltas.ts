import { createServer, type Server, type ServerResponse } from 'node:http';
import { WebSocket } from 'ws';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { chain } from '#bench/graphs.ts';
import type { Processes } from '#bench/processes.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { now, pause, percentile, timed } from '#bench/statistics.ts';

const FIRST_WORDS = 60;
const ANSWERS = 20;
const SOCKETS_PER_ANSWER = 50;
const WORD_EVERY_MS = 50;
const ROUNDS = 4;
const TRIGGERS_PER_ROUND = 50;

/**
 * How soon the first word of an answer reaches a socket, and what a thousand sockets that follow twenty answers cost
 * the other requests of their API process.
 */
export async function deltas(stack: Stack, processes: Processes): Promise<Result[]> {
  const model = await startModel(stack.modelPort);
  try {
    return [await firstWords(stack, model), await besideSockets(stack, processes, model)];
  } finally {
    model.close();
  }
}

interface Model {
  /** Starts the next answer of `compatible/word`; resolves with the time when its first word was sent. */
  say: () => Promise<number>;
  /** Whether the answers of `compatible/endless` continue. */
  speaking: boolean;
  close: () => void;
}

const stream = (apiUrl: string, runId: string): string =>
  `${apiUrl.replace('http', 'ws')}/api/runs/${runId}/stream?deltas=true`;

async function firstWords({ service, apiUrl }: Stack, model: Model): Promise<Result> {
  const workflow = await service.define('An answer', agent('compatible/word'));
  const delays: number[] = [];
  for (let n = 0; n < FIRST_WORDS; n += 1) {
    const runId = await service.trigger(workflow);
    const socket = new WebSocket(stream(apiUrl, runId), { perMessageDeflate: false });
    const arrived = new Promise<number>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('message', (data: Buffer) => {
        if (data.includes('"agent_delta"')) resolve(now());
      });
    });
    await new Promise((resolve) => socket.once('open', resolve));
    const sent = await model.say();
    delays.push((await arrived) - sent);
    socket.close();
    await service.until(runId, 'ended');
  }
  return compare({
    measure: "the first word of an answer, from the model's server to a socket, p95",
    unit: 'ms',
    ours: figure(delays),
    value: percentile(delays, 95),
    bound: atMost(100),
  });
}

async function besideSockets(
  { service, apiUrl, environment }: Stack,
  processes: Processes,
  model: Model,
): Promise<Result> {
  const answers = await service.define('An endless answer', agent('compatible/endless'));
  const workflow = await service.define('Beside sockets', chain(3));
  const sample = async (times: number[]): Promise<void> => {
    for (let n = 0; n < TRIGGERS_PER_ROUND; n += 1) {
      let runId = '';
      times.push(
        await timed(async () => {
          runId = await service.trigger(workflow);
        }),
      );
      await service.until(runId, 'ended');
    }
  };
  const [beside, without]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    model.speaking = true;
    const runs = await Promise.all(Array.from({ length: ANSWERS }, () => service.trigger(answers)));
    await pause(1_000);
    if (round % 2 === 0) await sample(without);
    const sockets = await processes.startNode({
      name: `sockets-${round}`,
      script: 'bench/sockets.ts',
      env: {
        ...environment,
        STREAMS: JSON.stringify(runs.map((runId) => stream(apiUrl, runId))),
        SOCKETS_PER_STREAM: String(SOCKETS_PER_ANSWER),
      },
    });
    await sample(beside);
    await processes.stop(sockets);
    if (round % 2 === 1) await sample(without);
    model.speaking = false;
    await Promise.all(runs.map((runId) => service.until(runId, 'ended')));
  }
  const sockets = (ANSWERS * SOCKETS_PER_ANSWER).toLocaleString('en-US');
  return compare({
    measure: `trigger answer beside ${sockets} sockets that follow ${ANSWERS} answers / the answers alone, p95`,
    unit: 'ms',
    ours: figure(beside),
    baseline: figure(without),
    value: percentile(beside, 95) / percentile(without, 95),
    bound: atMost(1.5),
    notes: ['each socket gets ten frames a second'],
  });
}

function agent(model: string): GraphInput {
  const node = { id: 'agent', kind: 'agent', prompt: 'x', model } as const;
  return { nodes: [{ ...node, tools: ['http_request'] }], edges: [] };
}

/** A model with OpenAI's protocol that answers word by word, when the benchmark tells it to. */
async function startModel(port: number): Promise<Model> {
  let begin = Promise.withResolvers<(sent: number) => void>();
  const model: Model = {
    speaking: false,
    say: () => new Promise((resolve) => begin.resolve(resolve)),
    close: () => server.close(),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { model: string };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      const answer = body.model === 'word' ? oneWord(response) : words(response, model);
      void answer.then(() => end(response));
    });
  });
  const oneWord = async (response: ServerResponse): Promise<void> => {
    const began = await begin.promise;
    begin = Promise.withResolvers();
    began(now());
    word(response);
    await pause(20);
  };
  await listen(server, port);
  return model;
}

async function words(response: ServerResponse, model: Model): Promise<void> {
  while (model.speaking && !response.destroyed) {
    word(response);
    await pause(WORD_EVERY_MS);
  }
}

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));

const event = (choice: object, rest: object = {}): string =>
  `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [choice], ...rest })}\n\n`;

const word = (response: ServerResponse): boolean =>
  response.write(event({ index: 0, delta: { role: 'assistant', content: 'word ' } }));

function end(response: ServerResponse): void {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  response.end(
    `${event({ index: 0, delta: {}, finish_reason: 'stop' }, { usage })}data: [DONE]\n\n`,
  );
}
