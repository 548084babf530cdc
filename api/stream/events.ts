import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { closeCodes, type StreamFrame } from '#shared/contract/runs/stream.ts';
import { readStreamPlace } from '#shared/db/runs/frames.ts';
import type { Db } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { Follow } from '#api/deps.ts';
import { boundBySilence } from '#api/http/connections.ts';
import { MAX_BEHIND_BYTES } from './limits.ts';

/** A connection without any traffic for this long is closed. */
const SILENCE_MS = 60_000;
/** When a browser reconnects. */
const RETRY_MS = 1_000;
/** After these frames, a run may have ended. */
const LAST: ReadonlySet<StreamFrame['type']> = new Set([
  'run_completed',
  'run_failed',
  'run_evaluated',
]);

interface EventStream {
  run: { workspaceId: string; runId: string };
  /** The reader already has the frames up to this number. */
  after: number;
  follow: Follow;
  /** Calls the function with a close code when the reader loses access. Returns a function that ends that. */
  watch: (close: (code: number) => void) => () => void;
  /** Releases the slot. */
  release: () => void;
}

export interface EventStreams {
  /** Sends the frames of a run as server-sent events, until the run has ended. */
  send(request: FastifyRequest, reply: FastifyReply, stream: EventStream): void;
  /** Ends all streams. */
  stop(): void;
}

const event = (name: string, data: object, id?: number): string =>
  `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;

/** The server-sent events of this process. They get the same frames as sockets, from the same bus. */
export function createEventStreams({
  db,
  log,
  commentEveryMs,
}: {
  db: Db;
  log: Logger;
  commentEveryMs: number;
}): EventStreams {
  const open = new Set<(code: number) => void>();
  return {
    send: (request, reply, stream) => {
      const response = begin(request, reply);
      const { run } = stream;
      const write = writerTo(response);
      const close = (code: number): void => {
        if (!response.writableEnded) response.end(event('close', { code }));
      };
      const end = createEnd({ db, log }, stream, (newest) => {
        if (response.writableEnded) return;
        response.end(event('end', { type: 'end', run_id: run.runId }, newest));
      });
      const unfollow = stream.follow({
        send: (frame, seq) =>
          write(`${seq === undefined ? '' : `id: ${seq}\n`}data: ${frame.toString()}\n\n`),
        passed: end.passed,
      });
      const unwatch = stream.watch(close);
      const heartbeat = setInterval(() => {
        write(':\n\n');
        end.again();
      }, commentEveryMs);
      heartbeat.unref();
      open.add(close);
      const finish = (): void => {
        open.delete(close);
        clearInterval(heartbeat);
        unwatch();
        unfollow();
        stream.release();
      };
      if (request.raw.socket.destroyed) finish();
      else response.once('close', finish);
      end.check();
    },
    stop: () => open.forEach((close) => close(closeCodes.going_away)),
  };
}

/** Sends the head, with the headers that the hooks have set. */
function begin(request: FastifyRequest, reply: FastifyReply): ServerResponse {
  reply.hijack();
  boundBySilence(request.raw, reply.raw, SILENCE_MS);
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    // For nginx, which otherwise collects the events.
    'x-accel-buffering': 'no',
  });
  reply.raw.write(`retry: ${RETRY_MS}\n\n`);
  return reply.raw;
}

/** Writes while the response is open and read. */
const writerTo =
  (response: ServerResponse) =>
  (text: string): void => {
    if (response.writableEnded || response.destroyed) return;
    if (response.writableLength > MAX_BEHIND_BYTES) response.destroy();
    else response.write(text);
  };

/** Calls `onEnd` once the run has ended and its last frame has passed, or the run is gone. */
function createEnd(
  { db, log }: { db: Db; log: Logger },
  { run, after }: Pick<EventStream, 'run' | 'after'>,
  onEnd: (newest: number) => void,
) {
  let last = after;
  let near = false;
  const look = async (): Promise<void> => {
    const place = await readStreamPlace(db, run);
    near = place?.ended ?? true;
    if (place === undefined || (place.ended && last >= place.newest)) onEnd(last);
  };
  const check = (): void => {
    look().catch((error: unknown) => {
      near = true;
      log.warn({ err: error }, 'could not see whether a run has ended');
    });
  };
  return {
    check,
    /** Repeats a check that has failed, or has found frames that were still to come. */
    again: () => near && check(),
    passed: (seq: number, type: StreamFrame['type']): void => {
      last = seq;
      if (near || LAST.has(type)) check();
    },
  };
}
