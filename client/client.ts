import { type FollowedEvent, readRunEvents, type RunEventsOptions } from './run-events.ts';
import { authorizationMethods } from './authorizations.ts';
import { backtestMethods } from './backtests.ts';
import { budgetMethods } from './budgets.ts';
import { dataKeyMethods } from './data-keys.ts';
import { dataMethods } from './data.ts';
import { endpointMethods } from './endpoints.ts';
import { keyMethods } from './keys.ts';
import { memberMethods } from './members.ts';
import { type Connection, createSend, fillPath, headerValue } from './request.ts';
import { nodeTestMethods } from './node-tests.ts';
import { gateMethods } from './gates.ts';
import { runMethods } from './runs.ts';
import { scheduleMethods } from './schedules.ts';
import { draftMethods } from './drafts.ts';
import { eventMethods } from './events.ts';
import { limitMethods } from './limits.ts';
import { triggerMethods } from './triggers.ts';
import { experimentMethods } from './experiments.ts';
import { inboundEventMethods } from './inbound-events.ts';
import { connectionMethods } from './connections.ts';
import { secretMethods } from './secrets.ts';
import { slackMethods } from './slack.ts';
import { signInMethods } from './sign-in.ts';
import {
  readStream,
  type SocketConstructor,
  type StreamOptions,
  type StreamRun,
} from './stream.ts';
import { templateMethods } from './templates.ts';
import { toolMethods } from './tools.ts';
import { webhookMethods } from './webhooks.ts';
import { workflowMethods } from './workflows.ts';
import { workspaceMethods } from './workspace.ts';
import type { StreamFrame, WorkspaceFrame } from './types.ts';

export interface ClientOptions {
  /** Base URL of the service, without `/api`. Default: `http://127.0.0.1:8000`. */
  baseUrl?: string;
  /** An API key, sent as `X-API-Key`. Takes precedence over `token`, except for streams. */
  apiKey?: string;
  /** A session token, sent as `Authorization: Bearer` and used to open streams. */
  token?: string;
  /** Timeout of a call in seconds, including its retries. Default: 30. */
  timeout?: number;
  /** Maximum retries of a read or run start after a transient failure. Default: 2. */
  retries?: number;
  fetch?: typeof fetch;
  /** For streams in environments without a global WebSocket. */
  webSocket?: SocketConstructor;
}

/** A method for each operation of the service, and helpers built on them. */
export type Client = {
  /** The address of the service, without `/api`. */
  readonly baseUrl: string;
} & ReturnType<typeof workflowMethods> &
  ReturnType<typeof runMethods> &
  ReturnType<typeof gateMethods> &
  ReturnType<typeof nodeTestMethods> &
  ReturnType<typeof backtestMethods> &
  ReturnType<typeof budgetMethods> &
  ReturnType<typeof signInMethods> &
  ReturnType<typeof memberMethods> &
  ReturnType<typeof keyMethods> &
  ReturnType<typeof authorizationMethods> &
  ReturnType<typeof dataKeyMethods> &
  ReturnType<typeof dataMethods> &
  ReturnType<typeof endpointMethods> &
  ReturnType<typeof scheduleMethods> &
  ReturnType<typeof toolMethods> &
  ReturnType<typeof draftMethods> &
  ReturnType<typeof eventMethods> &
  ReturnType<typeof limitMethods> &
  ReturnType<typeof triggerMethods> &
  ReturnType<typeof experimentMethods> &
  ReturnType<typeof inboundEventMethods> &
  ReturnType<typeof secretMethods> &
  ReturnType<typeof slackMethods> &
  ReturnType<typeof connectionMethods> &
  ReturnType<typeof webhookMethods> &
  ReturnType<typeof templateMethods> &
  ReturnType<typeof workspaceMethods> & {
    /**
     * The frames of a run from now on. Earlier events are not included: read the run in `onOpen`. It ends when you
     * leave the loop. After a `StreamError`, the caller decides whether to reconnect.
     */
    stream: StreamRun;
    /**
     * The frames of a run by server-sent events, with their numbers, until the run has ended. Broken connections are
     * continued without a gap. It takes an API key, or a stream token from `createStreamToken`.
     */
    followRun(
      runId: string,
      options?: RunEventsOptions,
    ): AsyncGenerator<FollowedEvent, void, undefined>;
    /** Changes in the workspace from now on, at most one frame per second. Read what you show in `onOpen`. */
    streamWorkspace(
      options?: Omit<StreamOptions, 'deltas'>,
    ): AsyncGenerator<WorkspaceFrame, void, undefined>;
  };

/** Creates a client of the service. Throws a TypeError for invalid settings. */
export function createClient({
  baseUrl = 'http://127.0.0.1:8000',
  apiKey,
  token,
  timeout = 30,
  retries = 2,
  ...globals
}: ClientOptions = {}): Client {
  const connection: Connection = {
    baseUrl: checkedUrl(baseUrl),
    credential: credentialHeaders(apiKey, token),
    timeout,
    retries,
    fetch: globals.fetch ?? ((...request) => fetch(...request)),
  };
  const send = createSend(connection);
  return {
    baseUrl: connection.baseUrl,
    ...workflowMethods(send),
    ...runMethods(send),
    ...gateMethods(send),
    ...nodeTestMethods(send),
    ...budgetMethods(send),
    ...signInMethods(send),
    ...memberMethods(send),
    ...backtestMethods(send),
    ...keyMethods(send),
    ...authorizationMethods(send),
    ...dataKeyMethods(send),
    ...dataMethods(send),
    ...endpointMethods(send),
    ...scheduleMethods(send),
    ...toolMethods(send),
    ...draftMethods(send),
    ...eventMethods(send),
    ...limitMethods(send),
    ...triggerMethods(send),
    ...experimentMethods(send),
    ...inboundEventMethods(send),
    ...secretMethods(send),
    ...slackMethods(send),
    ...connectionMethods(send),
    ...webhookMethods(send),
    ...templateMethods(send),
    ...workspaceMethods(send),
    followRun: (runId, options) => readRunEvents(connection, runId, options),
    ...streamMethods(connection.baseUrl, token, globals.webSocket),
  };
}

function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new TypeError('baseUrl must be an http or https address');
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('baseUrl must have neither credentials nor a query');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function credentialHeaders(
  apiKey: string | undefined,
  token: string | undefined,
): Record<string, string> {
  if (apiKey !== undefined) return { 'X-API-Key': headerValue('apiKey', apiKey) };
  if (token !== undefined) return { Authorization: `Bearer ${headerValue('token', token)}` };
  return {};
}

function streamMethods(
  baseUrl: string,
  token: string | undefined,
  given: SocketConstructor | undefined,
): Pick<Client, 'stream' | 'streamWorkspace'> {
  const open = <Frame>(
    path: string,
    { deltas, ...options }: StreamOptions = {},
  ): AsyncGenerator<Frame, void, undefined> => {
    // Read for each stream, so that a global that is replaced after the creation of the client counts.
    const Socket = given ?? (globalThis.WebSocket as SocketConstructor | undefined);
    const query = new URLSearchParams({
      ...(token !== undefined && { token }),
      ...(deltas === true && { deltas: 'true' }),
    }).toString();
    const url = baseUrl.replace(/^http/, 'ws') + path;
    return readStream(Socket, query === '' ? url : `${url}?${query}`, options);
  };
  return {
    stream: (runId: string, options?: StreamOptions) =>
      open<StreamFrame>(fillPath('/api/runs/{id}/stream', [runId]), options),
    streamWorkspace: (options) => open<WorkspaceFrame>('/api/stream', options),
  };
}
