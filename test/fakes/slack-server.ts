import { createHmac, randomBytes } from 'node:crypto';
import type { JsonObject } from '#shared/json.ts';
import { type FakeServer, type Seen, sendJson, startHttpServer } from './http-server.ts';

/** A message in a channel, as people see it now. */
export interface PostedMessage {
  channel: string;
  ts: string;
  text: string;
  blocks: JsonObject[];
  thread_ts?: string;
}

/** An answer instead of the usual one. */
interface Interception {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** Does what was asked, and closes the connection without an answer. */
  drops?: true;
}

/** Slack's Web API, as documented, on a free loopback port. */
export interface SlackServer extends FakeServer {
  apiUrl: string;
  team: string;
  /** The scopes that a sign-in grants. */
  scopes: string;
  channels: Set<string>;
  messages: PostedMessage[];
  /** Each call with a valid token, oldest first. */
  calls: { method: string; values: any }[];
  /** What only one person sees. */
  ephemeral: { user: string; text: string }[];
  /** The modals that were opened or changed, newest last. */
  views: { trigger?: string; id: string; view: any }[];
  users: Map<string, JsonObject>;
  /** Adds a member of the team, with what differs. */
  addUser: (given: { email: string; [field: string]: unknown }) => string;
  /** Ends all tokens. */
  revoke: () => void;
  /** Answers requests to a method; undefined does nothing. */
  intercept: (
    answer: ((method: string, values: any) => Interception | undefined) | undefined,
  ) => void;
}

const ID = () => randomBytes(5).toString('hex').toUpperCase();

export async function startSlackServer(): Promise<SlackServer> {
  const tokens = new Set<string>();
  let intercept: ((method: string, values: any) => Interception | undefined) | undefined;
  let posted = 0;
  const methods: Record<string, (values: any) => unknown> = {
    'chat.postMessage': ({ channel, text, blocks = [], thread_ts }) => {
      if (!fake.channels.has(channel)) return { ok: false, error: 'channel_not_found' };
      posted += 1;
      const ts = `1700000000.${String(posted).padStart(6, '0')}`;
      fake.messages.push({ channel, ts, text, blocks, ...(thread_ts && { thread_ts }) });
      return { ok: true, channel, ts };
    },
    'chat.update': ({ channel, ts, text, blocks = [] }) => {
      const found = fake.messages.find((each) => each.channel === channel && each.ts === ts);
      if (found === undefined) return { ok: false, error: 'message_not_found' };
      Object.assign(found, { text, blocks });
      return { ok: true, channel, ts };
    },
    'chat.postEphemeral': ({ user, text }) => {
      fake.ephemeral.push({ user, text });
      return { ok: true, message_ts: '1' };
    },
    'views.open': ({ trigger_id: trigger, view }) => {
      const id = `V${ID()}`;
      fake.views.push({ trigger, id, view });
      return { ok: true, view: { id } };
    },
    'views.update': ({ view_id: id, view }) => {
      fake.views.push({ id, view });
      return { ok: true, view: { id } };
    },
    'users.info': ({ user }) => {
      const found = fake.users.get(user);
      return found === undefined
        ? { ok: false, error: 'user_not_found' }
        : { ok: true, user: found };
    },
  };
  const server = await startHttpServer((request, response) => {
    const method = /^\/api\/([\w.]+)$/.exec(request.url)?.[1] ?? '';
    const values = valuesOf(request);
    const other = intercept?.(method, values);
    if (other?.drops === true) {
      methods[method]?.(values);
      return void response.destroy();
    }
    if (other !== undefined) {
      response.setHeaders(new Map(Object.entries(other.headers ?? {})));
      return sendJson(response, other.status ?? 200, other.body);
    }
    if (method === 'oauth.v2.access') {
      const token = `xoxb-${ID()}-${ID()}`;
      tokens.add(token);
      return sendJson(response, 200, {
        ok: true,
        access_token: token,
        token_type: 'bot',
        scope: fake.scopes,
        bot_user_id: 'UBOT',
        app_id: 'A1',
        team: { id: fake.team, name: 'Team' },
        enterprise: null,
        authed_user: { id: 'U1' },
      });
    }
    const token = String(request.headers['authorization']).replace('Bearer ', '');
    if (!tokens.has(token)) return sendJson(response, 200, { ok: false, error: 'token_revoked' });
    fake.calls.push({ method, values });
    return sendJson(
      response,
      200,
      methods[method]?.(values) ?? { ok: false, error: 'unknown_method' },
    );
  });
  const fake: SlackServer = {
    ...server,
    apiUrl: `${server.url}/api`,
    team: 'T0TEAM',
    scopes: 'chat:write,users:read,users:read.email',
    channels: new Set(['C0GENERAL', 'C0OTHER']),
    messages: [],
    calls: [],
    ephemeral: [],
    views: [],
    users: new Map(),
    addUser: ({ email, ...more }) => {
      const id = `U${ID()}`;
      fake.users.set(id, {
        id,
        team_id: fake.team,
        deleted: false,
        is_bot: false,
        is_app_user: false,
        is_restricted: false,
        is_ultra_restricted: false,
        is_email_confirmed: true,
        profile: { email },
        ...more,
      } as JsonObject);
      return id;
    },
    revoke: () => tokens.clear(),
    intercept: (answer) => {
      intercept = answer;
    },
  };
  return fake;
}

function valuesOf({ headers, body }: Seen): any {
  const isForm = String(headers['content-type']).startsWith('application/x-www-form-urlencoded');
  try {
    return isForm ? Object.fromEntries(new URLSearchParams(body)) : JSON.parse(body);
  } catch {
    return {};
  }
}

/** A request as Slack signs it. */
export function signedForm(
  payload: unknown,
  { secret, at = Date.now() }: { secret: string; at?: number },
): { headers: Record<string, string>; body: string } {
  const body = `payload=${encodeURIComponent(JSON.stringify(payload))}`;
  const timestamp = String(Math.floor(at / 1_000));
  const digits = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': timestamp,
      'x-slack-signature': `v0=${digits}`,
    },
    body,
  };
}
