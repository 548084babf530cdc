import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readEvidenceGates } from '#shared/db/evidence/evidence.ts';
import type { JsonObject } from '#shared/json.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import {
  type PostedMessage,
  type SlackServer,
  startSlackServer,
} from '#test/fakes/slack-server.ts';
import { echo, edge, eventually, mock } from '#test/support/engine.ts';
import {
  buttonsOf,
  connectSlack,
  slackClient,
  slackEnv,
  slackSettings,
  textsOf,
} from '#test/support/slack-world.ts';

const env: Record<string, string> = {};
let slack: SlackServer;
// Before the engine reads the settings.
beforeAll(async () => {
  slack = await startSlackServer();
  Object.assign(env, slackEnv(slack.apiUrl));
});
const { engine, call } = useEngineApi({ env });
afterAll(() => slack.close());

let client: ReturnType<typeof slackClient>;
beforeAll(async () => {
  client = slackClient(async ({ body, headers }) => {
    const answer = await engine.app.inject({
      method: 'POST',
      url: '/api/slack/interactions',
      payload: body,
      headers,
    });
    return { status: answer.statusCode, text: answer.body };
  }, slack);
  await connectSlack(call, slack);
});
beforeEach(async () => {
  slack.intercept(undefined);
  expect((await call('PUT', '/api/workspace/alerts', slackSettings())).status).toBe(200);
});

/** A member with an account in Slack. */
const person = async (given: Parameters<typeof addCaller>[1] = {}, account: object = {}) => {
  const { workspaceId } = engine.actor;
  const { id } = await addCaller({ db: engine.db, workspaceId }, given);
  const user = slack.addUser({ email: `${id}@EXAMPLE.com`, ...account });
  return { id, user, name: `Member ${id.slice(-4)}` };
};

const gated = (given: JsonObject = {}) => ({
  nodes: [
    { id: 'review', kind: 'human_gate', prompt: 'Pay {amount}?', ...given } as never,
    mock('paid', { output: 'x' }, { prompt: 'Pay {amount}' }),
    echo('refused'),
  ],
  edges: [edge('review', 'paid', 'true'), edge('review', 'refused', 'false')],
});

const messageOf = (runId: string, at = 0): PostedMessage =>
  slack.messages.filter((each) => JSON.stringify(each.blocks).includes(runId))[at]!;

/** A run that waits at a gate, with its message. */
async function asked(given: JsonObject = {}, input: JsonObject = { amount: 5 }) {
  const runId = await engine.start(gated(given), input);
  await eventually(() => messageOf(runId) !== undefined, 30_000);
  return { runId, message: messageOf(runId) };
}
const shows = (message: PostedMessage, text: string) =>
  eventually(() => textsOf(message.blocks).includes(text), 30_000);
const approve = (runId: string) =>
  call('POST', `/api/runs/${runId}/approve`, { approved: true, step_key: 'review' });

describe('the message about a gate', () => {
  test('asks in the channel, and its buttons carry the run, the step and the digest', async () => {
    const { runId, message } = await asked();
    const gate = (await call('GET', `/api/runs/${runId}/gates/review`)).body;
    expect(message.channel).toBe('C0GENERAL');
    expect(textsOf(message.blocks)).toContain('Pay 5?');
    expect(textsOf(message.blocks)).toContain(
      'If it is approved:\n• Read paid: runs an agent, always\n   {"prompt":"Pay 5"}',
    );
    const { approve: yes, reject: no, open } = buttonsOf(message);
    expect(JSON.parse(yes.value)).toEqual({ run: runId, step: 'review', digest: gate.digest });
    expect(no.value).toBe(yes.value);
    expect(open.url).toBe(`https://ops.example.com/approvals/${runId}/review`);
    expect(open.value).toBeUndefined();
  }, 60_000);

  test('approves in a modal, and every record says by_slack', async () => {
    const ann = await person();
    const { runId, message } = await asked();
    const opened = await client.open(message, 'approve', ann.user);
    const answer = await client.send(
      client.submission(opened, ann.user, { reason: { value: 'as agreed' } }),
    );
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { response_action: 'clear' }]);
    await engine.until(runId, ['success']);
    const { body: run } = await call('GET', `/api/runs/${runId}`);
    expect(run.steps.find((step: any) => step.node_id === 'review')).toMatchObject({
      decision: { approved: true, by: ann.name, by_slack: true, reason: 'as agreed' },
    });
    const { body: audit } = await call('GET', `/api/audit?target_id=${runId}&action=approve`);
    expect(audit.logs).toMatchObject([
      {
        actor_id: ann.id,
        details: {
          by_slack: true,
          signed_in: { by: 'slack', team_id: 'T0TEAM', user_id: ann.user },
        },
      },
    ]);
    const evidence = await engine.db.transaction(async (tx) => {
      const lines = [];
      for await (const page of readEvidenceGates(tx, runId)) lines.push(...page);
      return lines;
    });
    expect(evidence).toMatchObject([{ by_id: ann.id, by_slack: true }]);
    await shows(message, `Approved by ${ann.name}, in Slack`);
    expect(buttonsOf(message)).toEqual({});
  }, 60_000);

  test('follows a decision that is made elsewhere', async () => {
    const { runId, message } = await asked();
    expect((await approve(runId)).status).toBe(200);
    await shows(message, 'Approved by');
    expect(textsOf(message.blocks)).not.toContain('in Slack');
    expect(buttonsOf(message)).toEqual({});
  }, 60_000);
});
