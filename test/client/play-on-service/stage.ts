import { expect } from '@jest/globals';
import { failure, type Mock, play, type PlayedRun, type PlayOptions } from '#client/testing.ts';
import type { Run } from '#shared/contract/runs/run.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { modelSettings, type ModelServer, startModelServer } from '#test/support/model-server.ts';
import { comparableRun } from '#test/support/played.ts';

/** The answer of a tool to an attempt, from 1: a status other than 200 fails it. */
type Answer = (attempt: number) => { status: number; body: JsonObject };

interface Given {
  graph: GraphInput;
  input?: JsonObject;
  /** What people and other programs do while it runs on the service. */
  act?: (runId: string) => Promise<unknown>;
  /** The same in the process, without the tools of `answers`. */
  options?: Omit<PlayOptions, 'input'>;
  ends?: Run['status'];
}

/** The service with a server of tools and one of models, and the same workflows in the process. */
export interface PlayStage {
  engine: Engine;
  models: ModelServer;
  /** The address of a tool that answers like this on the service and in the process. */
  tool: (name: string, answer?: Answer) => string;
  /** What came to the tool. */
  seen: (name: string) => FakeServer['seen'];
  /** Waits until a run is paused. */
  paused: (runId: string) => Promise<Run>;
  /** Waits until a run has this many open waits; the default is 1. */
  waiting: (runId: string, count?: number) => Promise<void>;
  /** Runs a graph in both, requires that they do the same, and returns both. */
  both: (given: Given) => Promise<{ run: Run; played: PlayedRun }>;
  close: () => Promise<void>;
}

const works: Answer = (attempt) => ({ status: 200, body: { attempt } });

type Rest = JsonObject;

export const gate = (id: string, rest: Rest = {}) =>
  ({ id, kind: 'human_gate', prompt: 'Go on with {order}?', ...rest }) as never;

export const request = (id: string, url: string, rest: Rest = {}) =>
  ({
    ...{ id, kind: 'tool', tool_name: 'http_request' },
    ...{ params: { url, method: 'POST' }, ...rest },
  }) as never;

/** The texts of the errors that the service and `play` refuse with. */
export function refusals(service: Promise<unknown>, played: Promise<unknown>): Promise<string[]> {
  const texts = [service, played].map((each) =>
    each.then(
      (value) => `not refused: ${JSON.stringify(value)}`,
      (error: unknown) => (error as Error).message,
    ),
  );
  return Promise.all(texts);
}

export async function startPlayStage(): Promise<PlayStage> {
  const answers = new Map<string, Answer>();
  const counts = new Map<string, number>();
  const server = await startHttpServer(({ url, headers }, response) => {
    const name = url.slice(1);
    const [runId, stepKey] = String(headers['idempotency-key']).split(':');
    const step = `${runId} ${stepKey}`;
    counts.set(step, (counts.get(step) ?? 0) + 1);
    const { status, body } = answers.get(name)!(counts.get(step)!);
    sendJson(response, status, body);
  });
  const models = await startModelServer();
  const engine = await startEngine({
    env: {
      ...modelSettings(models),
      ENCRYPTION_KEY: 'a key of this test, long enough',
      PUBLIC_URL: 'https://ops.example.com',
    },
  });
  const request: Mock = ({ url }, { attempt }) => {
    const { host, pathname } = new URL(url as string);
    const { status, body } = answers.get(pathname.slice(1))!(attempt);
    if (status === 200) return { status, body };
    const retryable = status >= 500;
    return failure(`${host} answered ${status}: ${JSON.stringify(body)}`, { retryable });
  };
  return {
    engine,
    models,
    tool: (name, answer = works) => {
      answers.set(name, answer);
      return `${server.url}/${name}`;
    },
    seen: (name) => server.seen.filter(({ url }) => url === `/${name}`),
    paused: (runId) => engine.until(runId, ['paused']),
    waiting: (runId, count = 1) =>
      eventually(async () => (await engine.run(runId)).waiting.length === count),
    both: async ({ graph, input = {}, act, options = {}, ends = 'success' }) => {
      const runId = await engine.start(graph, input);
      await act?.(runId);
      const run = await engine.until(runId, [ends]);
      const { mocks = {}, ...rest } = options;
      const used = /name":"http_request"/.test(JSON.stringify(graph))
        ? { http_request: request }
        : {};
      const tools = { ...used, ...mocks.tools };
      const played = await play(graph, { input, ...rest, mocks: { ...mocks, tools } });
      expect(comparableRun(played)).toEqual(comparableRun(run));
      return { run, played };
    },
    close: async () => {
      await engine.close();
      await Promise.all([server.close(), models.close()]);
    },
  };
}
