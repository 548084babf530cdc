import { StreamError } from '#client/index.ts';

/** `ended`: no more frames will come, or the stream cannot be reopened. */
export type Liveness = 'live' | 'reconnecting' | 'ended';

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;

/** Close codes after which a retry cannot succeed: no valid token, not permitted, unknown run. */
const final: readonly number[] = [4401, 4403, 4404];

/**
 * Reads a stream until the signal aborts, and reopens it with backoff when it breaks. Read the subject of the stream at
 * each `live`, because frames only describe later events.
 */
export async function followStream<Frame>(
  open: (options: { signal: AbortSignal; onOpen: () => void }) => AsyncIterable<Frame>,
  {
    signal,
    report,
    onFrame,
  }: {
    signal: AbortSignal;
    report: (state: Liveness) => void;
    onFrame: (frame: Frame) => void;
  },
): Promise<void> {
  let broken = 0;
  const onOpen = (): void => {
    broken = 0;
    report('live');
  };
  while (!signal.aborted) {
    try {
      for await (const frame of open({ signal, onOpen })) onFrame(frame);
    } catch (error) {
      if (error instanceof StreamError && final.includes(error.code)) {
        report('ended');
        return;
      }
      report('reconnecting');
      await pause(delayAfter(broken), signal);
      broken += 1;
    }
  }
}

/** Jitter of up to half, so that clients do not reconnect at the same moment. */
const delayAfter = (broken: number): number =>
  Math.min(FIRST_DELAY_MS * 2 ** broken, LONGEST_DELAY_MS) * (1 - Math.random() / 2);

/** Resolves after `ms`, or when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
  });
}
