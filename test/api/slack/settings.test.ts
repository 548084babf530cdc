import { describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { rowTexts } from '#test/support/stored-texts.ts';
import {
  connectSlack,
  signInToSlack,
  SIGNING_SECRET,
  slackSettings,
} from '#test/support/slack-world.ts';
import { useSlack } from './slack-stage.ts';

const stage = useSlack();
const set = (change: object = {}) =>
  stage.call('PUT', '/api/workspace/alerts', slackSettings(change));
const read = async () => (await stage.call('GET', '/api/workspace/alerts')).body;
const sqlUpdate = (change: ReturnType<typeof sql.unsafe>) => stage.engine.db.query(change);
const team = () =>
  stage.engine.db.maybeOneFirst(
    sql.unsafe`SELECT team_id FROM workspace_slack`,
  ) as Promise<unknown>;

describe('the settings of Slack', () => {
  test('have the team of the sign-in, and show no secret', async () => {
    const { slack, channels } = await read();
    expect(slack).toEqual({
      ...{ connection: 'SLACK', channel: 'C0GENERAL', signing_secret: '***' },
    });
    expect(channels.find(({ channel }: any) => channel === 'slack')).toMatchObject({
      ...{ configured: true, source: 'workspace', events: ['paused'] },
      ...{ team_id: 'T0TEAM', problem: null },
    });
    const texts = await rowTexts(stage.engine.db);
    expect(texts.filter((text) => text.includes(SIGNING_SECRET))).toEqual([]);
    expect(texts.length).toBeGreaterThan(10);
  });

  test('keep the secret for the mask, and are audited without it', async () => {
    expect((await set({ channel: 'C0OTHER', signing_secret: '***' })).body.slack.channel).toBe(
      'C0OTHER',
    );
    const { body } = await stage.call('GET', '/api/audit?action=alerts_update');
    expect(body.logs[0].details).toMatchObject({
      ...{ changed: ['slack'], slack: { connection: 'SLACK', channel: 'C0OTHER' } },
    });
    // The same again is no change.
    const before = (await read()).etag;
    await set({ channel: 'C0OTHER' });
    expect((await read()).etag).toBe(before);
    await stage.call('PUT', '/api/workspace/alerts', {});
    expect((await read()).slack).toBeNull();
    const masked = await set({ signing_secret: '***' });
    expect([masked.status, masked.body.detail]).toEqual([
      400,
      'Invalid body: slack.signing_secret: there is no stored one; send it',
    ]);
  });

  test('refuse a connection that cannot be used, with the reason', async () => {
    const { call, slack } = stage;
    const make = async (name: string, change: object) => {
      const id = await connectSlack(call, slack, name, change);
      return { connection: name, id };
    };
    const refusal = async (connection: string) => {
      const { status, body } = await set({ connection });
      expect(status).toBe(400);
      return body.detail.replace('Invalid body: slack.connection: ', '');
    };
    expect(await refusal('NONE')).toBe("'NONE' does not exist");
    await make('NO_PRESET', { preset: undefined, client_auth: 'post' });
    expect(await refusal('NO_PRESET')).toContain("does not have the preset 'slack'");
    await make('MEMBERS', { owner: 'member' });
    expect(await refusal('MEMBERS')).toContain('belongs to members');
    await make('HOSTS', { allowed_hosts: ['slack.com'] });
    expect(await refusal('HOSTS')).toContain('does not allow the host 127.0.0.1');
    slack.scopes = 'chat:write,users:read';
    await make('SCOPES', {});
    expect(await refusal('SCOPES')).toContain('lacks the scope users:read.email');
    slack.scopes = 'chat:write,users:read,users:read.email';
    slack.team = '';
    await make('ORGANIZATION', {});
    expect(await refusal('ORGANIZATION')).toContain('is not signed in to one team');
    slack.team = 'T0TEAM';
    const { id } = await make('OUT', {});
    await call('POST', `/api/connections/${id}/disconnect`);
    expect(await refusal('OUT')).toBe("'OUT' is not signed in");
    // A server that a person chooses could name any team.
    await make('FORGED', {});
    await sqlUpdate(sql.unsafe`
      UPDATE connections SET token_url = 'http://127.0.0.1:9/oauth.v2.access' WHERE name = 'FORGED'`);
    expect(await refusal('FORGED')).toContain('with its token_url');
  }, 60_000);

  test('belong to one workspace per team, which is not named to another', async () => {
    const { db } = stage.engine;
    await stage.call('PUT', '/api/workspace/alerts', {});
    await db.query(
      sql.unsafe`INSERT INTO workspaces (id, name) VALUES ('ws_second', 'Secret name')`,
    );
    await db.query(sql.unsafe`
      INSERT INTO connections (id, workspace_id, name, grant_type, owner, token_url, authorization_url, client_id, client_auth,
                               scopes, authorization_params, allowed_hosts)
      VALUES ('con_second', 'ws_second', 'SLACK', 'authorization_code', 'workspace', 'x', 'x', 'x', 'none', '{}', '{}', '{x}')`);
    await db.query(sql.unsafe`
      INSERT INTO connection_tokens (connection_id, workspace_id, revision) VALUES ('con_second', 'ws_second', 1)`);
    await db.query(sql.unsafe`
      INSERT INTO workspace_slack (workspace_id, connection_id, team_id, channel, sealed_signing_secret)
      VALUES ('ws_second', 'con_second', 'T0TEAM', 'C0', 'x')`);
    const refused = await set();
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      'This Slack team already belongs to another workspace of this service: turn it off there first',
    ]);
    await db.query(sql.unsafe`DELETE FROM workspaces WHERE id = 'ws_second'`);
    expect((await set()).status).toBe(200);
  });
});

describe('Slack ends with its sign-in', () => {
  const audited = async () =>
    (await stage.call('GET', '/api/audit?action=alerts_update')).body.logs[0].details;

  test('when someone signs out', async () => {
    await stage.call('POST', `/api/connections/${stage.connection}/disconnect`);
    expect(await team()).toBeNull();
    expect(await audited()).toMatchObject({ changed: ['slack'], slack: null });
    await signInToSlack(stage.call, stage.connection);
    expect(await team()).toBeNull();
  });

  test('when someone signs in to another team, but not to the same one', async () => {
    await signInToSlack(stage.call, stage.connection);
    expect(await team()).toBe('T0TEAM');
    stage.slack.team = 'T0NEXT';
    await signInToSlack(stage.call, stage.connection);
    expect(await team()).toBeNull();
    expect(await audited()).toMatchObject({ changed: ['slack'], slack: null });
    stage.slack.team = 'T0TEAM';
    await signInToSlack(stage.call, stage.connection);
  });

  test('when the connection leads elsewhere, or is deleted', async () => {
    const { call, slack } = stage;
    const id = await connectSlack(call, slack, 'TEMPORARY');
    expect((await set({ connection: 'TEMPORARY' })).status).toBe(200);
    const changed = await call('PUT', `/api/connections/${id}`, {
      ...{ client_id: 'another', client_secret: 'client-secret-of-a-test-0123456789' },
    });
    expect(changed.status).toBe(200);
    expect(await team()).toBeNull();
    await signInToSlack(call, id);
    expect((await set({ connection: 'TEMPORARY' })).status).toBe(200);
    expect((await call('DELETE', `/api/connections/${id}`)).status).toBe(204);
    expect(await team()).toBeNull();
  });
});
