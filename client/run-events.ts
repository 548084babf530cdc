import { ApiError, ConnectionError, StreamError } from './errors.ts';
import { type Connection, errorOf, fillPath, pause } from './request.ts';
import { meaningOf } from './stream.ts';
import type { AgentDeltaFrame, StreamFrame } from './types.ts';

export interface RunEventsOptions {
  /** A stream token of the run. Default: the credential of the client. */
  token?: string | undefined;
  /** Begins after the frame with this number; 0 sends all earlier frames too. Default: frames from now on. */
  after?: number | undefined;
  /** Ends the iteration without an error. */
  signal?: AbortSignal | undefined;
  /** Includes the frames about agents' turns, and their models' answers as they arrive. */
  deltas?: boolean | undefined;
}

/** `seq` is the number of the frame within the run; answers of models as they arrive have none. */
export interface FollowedEvent {
  seq: number | undefined;
  frame: StreamFrame | AgentDeltaFrame;
}

/** How often it connects again without an event in between. */
const MAX_FAILURES = 5;
const FIRST_DELAY_MS = 250;
/** Of WebSockets: data that cannot be accepted. */
const NOT_EVENTS = 1003;

/**
 * The frames of a run by server-sent events, until the run has ended. It connects again after a broken connection and
 * continues without a gap. Throws an `ApiError` for a refusal, a `StreamError` when the service ends the stream because the
 * credential has ended, and a `ConnectionError` when the service cannot be reached.
 */
export async function* readRunEvents(
  connection: Connection,
  runId: string,
  { token, after, signal, deltas }: RunEventsOptions = {},
): AsyncGenerator<FollowedEvent, void, undefined> {
  const aborted = (): boolean => signal?.aborted === true;
  let last = after;
  for (let failures = 0; !aborted();) {
    try {
      const response = await open(connection, runId, { token, after: last, signal, deltas });
      if (response.status === 204 || response.body === null) return;
      if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
        await response.body.cancel();
        throw new StreamError(NOT_EVENTS, `${connection.baseUrl} does not answer with events`);
      }
      for await (const { event, id, data } of eventsOf(response.body)) {
        if (event === 'end') return;
        if (event === 'close') throw closed(data);
        failures = 0;
        last = id ?? last;
        yield { seq: id, frame: data as FollowedEvent['frame'] };
      }
    } catch (error) {
      if (aborted()) return;
      const final = error instanceof ApiError && ![429, 502, 503, 504].includes(error.status);
      if (final || (error instanceof StreamError && error.code !== 1001)) throw error;
      if (failures >= MAX_FAILURES) throw broken(connection, error);
    }
    if (aborted()) return;
    if (failures >= MAX_FAILURES) throw broken(connection, undefined);
    await pause(FIRST_DELAY_MS * 2 ** failures, signal).catch(() => undefined);
    failures += 1;
  }
}

const broken = ({ baseUrl }: Connection, error: unknown): unknown =>
  error instanceof ApiError || error instanceof StreamError
    ? error
    : new ConnectionError(`${baseUrl} cannot be reached`, { cause: error });

function closed(data: unknown): StreamError {
  const { code } = data as { code: number };
  return new StreamError(code, meaningOf(code) ?? 'The stream ended');
}

async function open(
  { baseUrl, credential, fetch }: Connection,
  runId: string,
  { token, after, signal, deltas }: RunEventsOptions,
): Promise<Response> {
  // Pages of other origins can send neither `Authorization` nor `Last-Event-ID`.
  const query = new URLSearchParams({
    ...(token !== undefined && { token }),
    ...(after !== undefined && { after: String(after) }),
    ...(deltas === true && { deltas: 'true' }),
  }).toString();
  const url = baseUrl + fillPath('/api/runs/{id}/stream', [runId]);
  const response = await fetch(query === '' ? url : `${url}?${query}`, {
    headers: { accept: 'text/event-stream', ...(token === undefined && credential) },
    redirect: 'manual',
    ...(signal !== undefined && { signal }),
  });
  if (!response.ok) throw errorOf(response, await response.text());
  return response;
}

interface ServerSentEvent {
  event: string;
  id: number | undefined;
  data: unknown;
}

async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (text + decoder.decode(value, { stream: true })).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = new Map(
          block.split('\n').map((line) => {
            const colon = line.indexOf(': ');
            return [line.slice(0, colon), line.slice(colon + 2)] as const;
          }),
        );
        const [data, id] = [fields.get('data'), fields.get('id')];
        if (data === undefined) continue;
        yield {
          event: fields.get('event') ?? 'message',
          id: id === undefined ? undefined : Number(id),
          data: JSON.parse(data),
        };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
