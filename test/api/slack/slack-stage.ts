import { sql } from '#shared/db/pool.ts';
import { confirmSlackAccount, isConfirmedOrAsks } from '#shared/db/slack/people.ts';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import type { JsonObject } from '#shared/json.ts';
import { type EngineWithApi, useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import type { TestApi } from '#test/api/test-api.ts';
import {
  type PostedMessage,
  type signedForm,
  type SlackServer,
  startSlackServer,
} from '#test/fakes/slack-server.ts';
import { echo, edge, eventually, mock } from '#test/support/engine.ts';
import {
  connectSlack,
  slackClient,
  slackEnv,
  slackSettings,
  textsOf,
} from '#test/support/slack-world.ts';

interface Person {
  id: string;
  user: string;
  name: string;
}

/** A workspace that asks in Slack. */
export interface SlackStage {
  slack: SlackServer;
  engine: EngineWithApi;
  call: TestApi['call'];
  client: ReturnType<typeof slackClient>;
  /** The connection. */
  connection: string;
  /** Sends a request as Slack does. */
  post: (form: ReturnType<typeof signedForm>) => Promise<{ status: number; text: string }>;
  /** A member with an account in Slack, which they have confirmed. */
  person: (given?: Parameters<typeof addCaller>[1], account?: object) => Promise<Person>;
  /** A member with an account in Slack that never asked. */
  stranger: (given?: Parameters<typeof addCaller>[1], account?: object) => Promise<Person>;
  /** The message about a run. */
  messageOf: (runId: string, at?: number) => PostedMessage | undefined;
  /** Starts a run of a graph with a gate `review`, and waits for its message. */
  asked: (
    given?: JsonObject,
    input?: JsonObject,
  ) => Promise<{ runId: string; message: PostedMessage }>;
  /** Waits until a message has this text. */
  shows: (message: PostedMessage, text: string) => Promise<void>;
  /** Waits for the answer that only this person sees. */
  hears: (user: string) => Promise<string>;
}

export const gated = (given: JsonObject = {}) => ({
  nodes: [
    { id: 'review', kind: 'human_gate', prompt: 'Pay {amount}?', ...given } as never,
    mock('paid', { output: 'x' }, { prompt: 'Pay {amount}' }),
    echo('refused'),
  ],
  edges: [edge('review', 'paid', 'true'), edge('review', 'refused', 'false')],
});

/** All tests of a file share it. */
export function useSlack(): SlackStage {
  const env: Record<string, string> = {};
  const stage = {} as SlackStage;
  // Before the engine reads the settings.
  beforeAll(async () => {
    stage.slack = await startSlackServer();
    Object.assign(env, slackEnv(stage.slack.apiUrl));
  });
  const { engine, call } = useEngineApi({ env });
  afterAll(() => stage.slack.close());
  Object.assign(stage, { engine, call });
  stage.post = async ({ body, headers }) => {
    const request = {
      method: 'POST',
      url: '/api/slack/interactions',
      payload: body,
      headers,
    } as const;
    const { statusCode, body: text } = await engine.app.inject(request);
    return { status: statusCode, text };
  };
  stage.stranger = async (given = {}, account = {}) => {
    const { workspaceId } = engine.actor;
    const { id } = await addCaller({ db: engine.db, workspaceId }, given);
    const user = stage.slack.addUser({ email: `${id}@EXAMPLE.com`, ...account });
    return { id, user, name: `Member ${id.slice(-4)}` };
  };
  stage.person = async (given = {}, account = {}) => {
    const one = await stage.stranger(given, account);
    const { workspaceId } = engine.actor;
    const claim = { workspaceId, teamId: stage.slack.team, userId: one.user, name: one.name };
    await isConfirmedOrAsks(engine.db, { ...claim, memberId: one.id });
    const actor = { ...engine.actor, id: one.id };
    await confirmSlackAccount(engine.db, actor, { team_id: claim.teamId, user_id: one.user });
    return one;
  };
  stage.messageOf = (runId, at = 0) =>
    stage.slack.messages.filter((each) => JSON.stringify(each.blocks).includes(runId))[at];
  stage.asked = async (given = {}, input = { amount: 5 }) => {
    const runId = await engine.start(gated(given), input);
    // Slack has the message before the service knows its name.
    const isKnown = () =>
      engine.db.exists(sql.unsafe`
        SELECT FROM slack_messages WHERE run_id = ${runId} AND ts IS NOT NULL AND leased_until IS NULL`);
    await eventually(isKnown, 30_000);
    return { runId, message: stage.messageOf(runId)! };
  };
  stage.shows = (message, text) => eventually(() => textsOf(message.blocks).includes(text), 30_000);
  stage.hears = async (user) => {
    const heard = () => stage.slack.ephemeral.findLast((each) => each.user === user);
    await eventually(() => heard() !== undefined, 20_000);
    return heard()!.text;
  };
  beforeAll(async () => {
    stage.client = slackClient(stage.post, stage.slack);
    stage.connection = await connectSlack(call, stage.slack);
  });
  beforeEach(async () => {
    stage.slack.intercept(undefined);
    stage.slack.ephemeral.length = 0;
    const set = await call('PUT', '/api/workspace/alerts', slackSettings());
    expect([set.status, set.text]).toEqual([200, expect.any(String)]);
  });
  return stage;
}
