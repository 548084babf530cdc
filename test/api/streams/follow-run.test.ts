import { createServer, request } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createClient, type FollowedEvent } from '#client/index.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { addressOf } from './event-reader.ts';
import { endRun, startNodes } from './frames.ts';

const api = useTestApi({ AUTH_MODE: 'required', SECRET_KEY: 'a secret of the followers' });
let apiKey: string;
let workflowId: string;
beforeAll(async () => {
  const { headers } = await addCaller(api);
  apiKey = headers['x-api-key'] ?? '';
  const workflow = { name: 'x', graph: oneStep };
  workflowId = (await api.call('POST', '/api/workflows', workflow, headers)).body.id;
});

const clientOf = async () => createClient({ baseUrl: await addressOf(api.app), apiKey });
const startRun = async (): Promise<string> =>
  (await (await clientOf()).triggerRun(workflowId, { ticket: 'x' })).id;
const emit = (runId: string, node: string) => startNodes(api.db, runId, [node]);
const end = (runId: string) => endRun(api.db, runId);
const nodesOf = (events: readonly FollowedEvent[]) =>
  events.map(({ frame }) => ('node_id' in frame ? frame.node_id : frame.type));

/** A proxy that breaks each connection after this many bytes of its answer. */
async function breakingProxy(target: string, bytes: number) {
  let broken = 0;
  const server = createServer((incoming, outgoing) => {
    const { url = '', headers } = incoming;
    request(target + url, { headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      let sent = 0;
      answer.on('data', (chunk: Buffer) => {
        outgoing.write(chunk);
        sent += chunk.length;
        if (sent < bytes) return;
        broken += 1;
        answer.destroy();
        setImmediate(() => outgoing.destroy());
      });
      answer.on('end', () => outgoing.end());
      answer.on('error', () => undefined);
    }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    broken: () => broken,
    close: () => server.close().closeAllConnections(),
  };
}

describe('a client that follows a run', () => {
  test('gets all frames once with a stream token, over connections that break, until the run has ended', async () => {
    const runId = await startRun();
    const { token } = await (await clientOf()).createStreamToken(runId);
    const proxy = await breakingProxy(await addressOf(api.app), 300);
    const page = createClient({ baseUrl: proxy.url });
    const nodes = Array.from({ length: 12 }, (_, n) => `n${n}`);
    for (const node of nodes.slice(0, 6)) await emit(runId, node);
    const seen: FollowedEvent[] = [];
    for await (const event of page.followRun(runId, { token, after: 0 })) {
      seen.push(event);
      const next = nodes[seen.length + 5];
      if (next !== undefined) await emit(runId, next);
      if (seen.length === nodes.length) await end(runId);
    }
    expect(nodesOf(seen)).toEqual([...nodes, 'run_completed']);
    expect(proxy.broken()).toBeGreaterThan(0);
    proxy.close();
  });

  test('gets an error for an unknown run, and for a token that has ended', async () => {
    const client = await clientOf();
    await expect(client.followRun('run_unknown').next()).rejects.toMatchObject({ status: 404 });
    const runId = await startRun();
    const { token } = await client.createStreamToken(runId, { expires_in: 1 });
    const following = client.followRun(runId, { token });
    await expect(following.next()).rejects.toMatchObject({ code: 4401 });
    await expect(client.followRun(runId, { token }).next()).rejects.toMatchObject({ status: 401 });
  });

  test('stops without an error on a signal', async () => {
    const controller = new AbortController();
    const following = (await clientOf()).followRun(await startRun(), { signal: controller.signal });
    const next = following.next();
    controller.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});
