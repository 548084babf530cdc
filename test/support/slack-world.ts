import type { useEngineApi } from '#test/api/engine-api.ts';
import { cookieOf } from '#test/fakes/authorization-server.ts';
import { type PostedMessage, signedForm, type SlackServer } from '#test/fakes/slack-server.ts';
import { eventually } from './engine.ts';

/** The settings of a service that uses a Slack at this address. */
export const slackEnv = (apiUrl: string): Record<string, string> => ({
  ENCRYPTION_KEY: 'a key of this test, long enough',
  SECRET_KEY: 'signs the sessions of these tests',
  PUBLIC_URL: 'https://ops.example.com',
  SLACK_API_URL: apiUrl,
  RECONCILE_INTERVAL_SECONDS: '0.3',
});

export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';

type Call = ReturnType<typeof useEngineApi>['call'];

/** Creates a connection to Slack and signs in to it. Returns its id. */
export async function connectSlack(
  call: Call,
  server: SlackServer,
  name = 'SLACK',
  change: object = {},
): Promise<string> {
  const made = await call('POST', '/api/connections', {
    name,
    preset: 'slack',
    client_id: '123.456',
    client_secret: 'client-secret-of-a-test-0123456789',
    authorization_url: `${server.url}/oauth/v2/authorize`,
    token_url: `${server.apiUrl}/oauth.v2.access`,
    allowed_hosts: [`127.0.0.1:${server.port}`],
    ...change,
  });
  if (made.status !== 201) throw new Error(made.text);
  await signInToSlack(call, made.body.id);
  return made.body.id;
}

export async function signInToSlack(call: Call, id: string): Promise<void> {
  const begun = await call('POST', `/api/connections/${id}/authorize`);
  if (begun.status !== 200) throw new Error(begun.text);
  const { searchParams } = new URL(begun.body.authorization_url);
  const { pathname } = new URL(searchParams.get('redirect_uri') ?? '');
  const state = encodeURIComponent(searchParams.get('state') ?? '');
  const ended = await call('GET', `${pathname}?code=1&state=${state}`, undefined, {
    cookie: cookieOf(begun),
  });
  const location = String(ended.headers['location']);
  if (!location.includes('result=connected')) throw new Error(location);
}

export const slackSettings = (change: object = {}) => ({
  slack: { connection: 'SLACK', channel: 'C0GENERAL', signing_secret: SIGNING_SECRET, ...change },
});

/** The buttons of a message, by their ids. */
export const buttonsOf = ({ blocks }: PostedMessage): Record<string, any> =>
  Object.fromEntries(
    blocks
      .filter(({ type }) => type === 'actions')
      .flatMap(({ elements }: any) => elements)
      .map((element: any) => [element.action_id, element]),
  );

/** All texts of a message or modal, as people read them. */
export const textsOf = (value: unknown): string => {
  const texts: string[] = [];
  JSON.stringify(value, (key, item: unknown) => {
    if (key === 'text' && typeof item === 'string') texts.push(item);
    return item;
  });
  return texts.join('\n');
};

/** What Slack does when a person clicks or submits. */
export function slackClient(
  post: (form: ReturnType<typeof signedForm>) => Promise<any>,
  server: SlackServer,
) {
  const base = (user: string, team = server.team) => ({
    team: { id: team, domain: 'team' },
    user: { id: user, team_id: team, username: 'person' },
    api_app_id: 'A1',
    token: 'x',
  });
  let triggers = 0;
  const click = (message: PostedMessage, action: 'approve' | 'reject', user: string) => {
    triggers += 1;
    return {
      type: 'block_actions',
      ...base(user),
      trigger_id: `trigger-${triggers}`,
      container: { type: 'message', message_ts: message.ts, channel_id: message.channel },
      channel: { id: message.channel },
      actions: [{ type: 'button', ...buttonsOf(message)[action] }],
    };
  };
  const submission = (opened: { id: string; view: any }, user: string, values: object = {}) => ({
    type: 'view_submission',
    ...base(user),
    view: {
      id: opened.id,
      type: 'modal',
      callback_id: opened.view.callback_id,
      private_metadata: opened.view.private_metadata,
      state: {
        values: Object.fromEntries(
          Object.entries(values).map(([block, entered]) => [block, { value: entered }]),
        ),
      },
    },
  });
  const send = (payload: object, secret = SIGNING_SECRET) => post(signedForm(payload, { secret }));
  return {
    click,
    submission,
    send,
    /** Clicks, and waits for the modal. */
    open: async (message: PostedMessage, action: 'approve' | 'reject', user: string) => {
      const payload = click(message, action, user);
      const answer = await send(payload);
      if (answer.status !== 200) throw new Error(answer.text);
      const opened = () => server.views.find(({ trigger }) => trigger === payload.trigger_id);
      await eventually(() => opened() !== undefined, 20_000);
      return opened()!;
    },
  };
}
