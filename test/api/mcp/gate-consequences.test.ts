import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/client';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { edge } from '#test/support/engine.ts';

const { engine } = useEngineApi();

const request = (id: string, url: string, body: object) =>
  ({ id, kind: 'tool', tool_name: 'http_request', params: { url, method: 'POST', body } }) as never;

const graph = {
  nodes: [
    { id: 'review', kind: 'human_gate', prompt: 'Pay {amount}?' } as never,
    request('pay', 'https://bank.test/pay', { amount: '{amount}' }),
    request('tell', 'https://mail.test/', { paid: '{pay.status}' }),
    { id: 'second', kind: 'human_gate' } as never,
    request('last', 'https://mail.test/', {}),
  ],
  edges: [
    ...[edge('review', 'pay', 'true'), edge('pay', 'tell'), edge('tell', 'second')],
    edge('second', 'last'),
  ],
};

let owner: Client;
beforeAll(async () => {
  owner = await connectMcp(`${engine.url}/api/mcp`);
});
afterAll(async () => owner?.close());

const use = async (name: string, args: object, client = owner) => {
  const { content, structuredContent, isError }: any = await client.callTool({
    name,
    arguments: args as Record<string, unknown>,
  });
  return {
    texts: content.map(({ text }: { text: string }) => text),
    data: structuredContent,
    isError,
  };
};

const paused = async (): Promise<{ run_id: string; step_key: string }> => {
  const runId = await engine.trigger(await engine.define(graph), { amount: 100 });
  await engine.until(runId, ['paused']);
  return { run_id: runId, step_key: 'review' };
};

test('get_gate says what each answer sets in motion, and what to do next', async () => {
  const gate = await paused();
  const { data, texts } = await use('get_gate', gate);
  expect(data.consequences.approve.effects[0].arguments.body).toEqual({ amount: 100 });
  expect(texts[1]).toBe(
    'If it is approved, these are executed: pay (http_request to bank.test, write, certain); ' +
      'tell (http_request to mail.test, write, certain, body.paid not known yet). The next decision is at second. ' +
      'Up to 1 more effects can follow after that.\n' +
      'If it is rejected, nothing is executed.\n' +
      'Show the person each effect with its arguments, and say what is not known yet. ' +
      `Then call approve_run with digest ${data.digest}: the decision counts only for these effects.`,
  );
  const place = { db: engine.db, workspaceId: engine.actor.workspaceId };
  const viewer = await addCaller(place, { role: 'viewer' });
  const client = await connectMcp(`${engine.url}/api/mcp`, undefined, viewer.headers);
  const hidden = await use('get_gate', gate, client);
  await client.close();
  expect(hidden.data.digest).toBeNull();
  expect(hidden.texts[1]).toContain('The caller cannot decide gates');
  expect(hidden.texts.join()).not.toMatch(/sha256|"amount"/);
});

test('approve_run decides only what was read, with the input it has', async () => {
  const gate = await paused();
  const { digest } = (await use('get_gate', gate)).data;
  const changed = { ...gate, input: { amount: 5 } };
  const stale = await use('approve_run', { ...changed, digest });
  expect(stale.isError).toBe(true);
  expect(stale.texts[0]).toContain('has changed since you read it');
  const { current } = JSON.parse(stale.texts[1]);
  expect(current.consequences.approve.effects[0].arguments.body).toEqual({ amount: 5 });
  const { shown, status } = (await use('approve_run', { ...changed, only_check: true })).data;
  expect([shown, status]).toEqual([current, 'paused']);
  const decided = await use('approve_run', { ...changed, digest: shown.digest });
  expect([decided.isError, decided.data.shown]).toEqual([undefined, undefined]);
  expect((await use('get_gate', gate)).data).toMatchObject({ status: 'approved' });
});
