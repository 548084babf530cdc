import { budgetMethods } from './budgets.ts';
import { dataKeyMethods } from './data-keys.ts';
import { keyMethods } from './keys.ts';
import { memberMethods } from './members.ts';
import { type Connection, createSend, fillPath } from './request.ts';
import { headerValue, runMethods } from './runs.ts';
import { scheduleMethods } from './schedules.ts';
import { signInMethods } from './sign-in.ts';
import { readStream, type SocketConstructor, type StreamOptions } from './stream.ts';
import { templateMethods } from './templates.ts';
import { toolMethods } from './tools.ts';
import type { StreamFrame } from './types.ts';
import { webhookMethods } from './webhooks.ts';
import { workflowMethods } from './workflows.ts';
import { workspaceMethods } from './workspace.ts';

export interface ClientOptions {
  /** Where the service is, without `/api`; `http://127.0.0.1:8000` unless given. */
  baseUrl?: string;
  /** An API key, sent as `X-API-Key`. It is what counts when there is a token as well. */
  apiKey?: string;
  /** A session token, sent as `Authorization: Bearer`, and what opens streams. */
  token?: string;
  /** Seconds that a call may take, its retries included; 30 unless given. */
  timeout?: number;
  /** How often a read or the start of a run is sent again after a failure that may pass; 2 unless given. */
  retries?: number;
  fetch?: typeof fetch;
  /** For streams, where there is no global WebSocket. */
  webSocket?: SocketConstructor;
}

/** A method for each operation of the service, and what is made of them. */
export type Client = ReturnType<typeof workflowMethods> &
  ReturnType<typeof runMethods> &
  ReturnType<typeof budgetMethods> &
  ReturnType<typeof signInMethods> &
  ReturnType<typeof memberMethods> &
  ReturnType<typeof keyMethods> &
  ReturnType<typeof dataKeyMethods> &
  ReturnType<typeof scheduleMethods> &
  ReturnType<typeof toolMethods> &
  ReturnType<typeof webhookMethods> &
  ReturnType<typeof templateMethods> &
  ReturnType<typeof workspaceMethods> & {
    /**
     * The frames of a run from now on. They tell what happens, not what has happened: read the run in `onOpen`. Ends
     * when the loop is left; whether to connect again after a `StreamError` is up to the caller.
     */
    stream: (runId: string, options?: StreamOptions) => AsyncGenerator<StreamFrame, void>;
  };

/** A client of the service. Throws a TypeError for settings that cannot be. */
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
    ...workflowMethods(send),
    ...runMethods(send),
    ...budgetMethods(send),
    ...signInMethods(send),
    ...memberMethods(send),
    ...keyMethods(send),
    ...dataKeyMethods(send),
    ...scheduleMethods(send),
    ...toolMethods(send),
    ...webhookMethods(send),
    ...templateMethods(send),
    ...workspaceMethods(send),
    stream: (runId, options) =>
      readStream(
        globals.webSocket ?? (globalThis.WebSocket as SocketConstructor | undefined),
        streamUrl(connection.baseUrl, runId, token),
        options,
      ),
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

function streamUrl(baseUrl: string, runId: string, token: string | undefined): string {
  const url = baseUrl.replace(/^http/, 'ws') + fillPath('/api/runs/{id}/stream', [runId]);
  return token === undefined ? url : `${url}?token=${encodeURIComponent(token)}`;
}
