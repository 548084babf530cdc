import { StreamError } from './errors.ts';
import type { AgentDeltaFrame, StreamFrame } from './types.ts';

/** The subset of a browser's WebSocket that is used. */
export interface Socket {
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { code: number; reason: string }) => void,
  ): void;
  close(): void;
}
export type SocketConstructor = new (url: string) => Socket;

export interface StreamOptions {
  /** Called when the stream is open. Read the run here, since frames describe only later events. */
  onOpen?: () => void;
  /** Ends the iteration without an error. */
  signal?: AbortSignal;
  /** Includes the frames about agents' turns, and their models' answers as they arrive. */
  deltas?: boolean;
}

export interface StreamRun {
  (
    runId: string,
    options: StreamOptions & { deltas: true },
  ): AsyncGenerator<StreamFrame | AgentDeltaFrame, void, undefined>;
  (runId: string, options?: StreamOptions): AsyncGenerator<StreamFrame, void, undefined>;
}

/** Maximum number of unread frames; one more ends the stream. */
const MAX_WAITING = 10_000;

/**
 * The frames of a stream from now on. It ends when you leave the loop or the signal aborts, and throws a `StreamError`
 * when the connection closes. The stream of a run does not end with the run: a failed run can be resumed.
 */
export async function* readStream<Frame>(
  Socket: SocketConstructor | undefined,
  url: string,
  { onOpen, signal }: Omit<StreamOptions, 'deltas'> = {},
): AsyncGenerator<Frame, void, undefined> {
  if (Socket === undefined) {
    throw new TypeError('There is no global WebSocket (Node has one from 22 on): give `webSocket`');
  }
  const aborted = (): boolean => signal?.aborted === true;
  if (aborted()) return;
  const waiting: Frame[] = [];
  let ending: { error?: StreamError } | undefined;
  let wake = (): void => undefined;
  const end = (error?: StreamError): void => {
    ending ??= error === undefined ? {} : { error };
    wake();
  };
  const socket = new Socket(url);
  const give = (): void => end();
  signal?.addEventListener('abort', give);
  socket.addEventListener('open', () => onOpen?.());
  socket.addEventListener('error', () => undefined);
  socket.addEventListener('close', ({ code, reason }) => {
    end(new StreamError(code, meanings[code] ?? (reason === '' ? 'The stream ended' : reason)));
  });
  socket.addEventListener('message', ({ data }) => {
    if (waiting.length >= MAX_WAITING) return end(new StreamError(1013, 'Frames were not read'));
    waiting.push(JSON.parse(String(data)) as Frame);
    wake();
  });
  try {
    for (;;) {
      const frame = waiting.shift();
      if (frame !== undefined) yield frame;
      else if (ending !== undefined) break;
      else await new Promise<void>((resolve) => (wake = resolve));
      if (aborted()) return;
    }
    if (ending.error !== undefined) throw ending.error;
  } finally {
    signal?.removeEventListener('abort', give);
    socket.close();
  }
}

/** What a close code says, if it is one of the service. */
export const meaningOf = (code: number): string | undefined => meanings[code];

const meanings: Record<number, string> = {
  1001: 'The service stops',
  1006: 'The connection broke or could not be opened',
  1013: 'Too many streams, or frames were not read',
  4401: 'A valid session or stream token is needed',
  4403: "This action requires the 'view' permission",
  4404: 'Run not found',
};
