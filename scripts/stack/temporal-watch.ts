import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import { connectLocally } from './temporal.ts';
import { messageOf } from './output.ts';

/** Six consecutive probes, five seconds apart: half a minute without a correct response. */
const defaults = { everyMs: 5_000, deadlineMs: 5_000, failures: 6 } as const;

const NOT_FOUND = 5;

export interface TemporalWatch {
  stop(): void;
}

/**
 * Restarts the embedded Temporal server if it runs but no longer responds. This has happened: a killed client left its
 * database connection interrupted, and every read failed for minutes until a restart. `restart` gets the last error. If
 * it rejects, `onFailure` is called and the watch ends.
 */
export function watchTemporal(options: {
  address: string;
  namespace: string;
  restart: (reason: string) => Promise<void>;
  onFailure: (error: unknown) => void;
  everyMs?: number;
  deadlineMs?: number;
  /** The number of consecutive probes that must fail. */
  failures?: number;
}): TemporalWatch {
  const { everyMs, deadlineMs, failures } = { ...defaults, ...options };
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    let failed = 0;
    for (;;) {
      await sleep(everyMs, undefined, { signal: stopping.signal, ref: false });
      const error = await probe(options, deadlineMs);
      failed = error === undefined ? 0 : failed + 1;
      if (error === undefined || failed < failures) continue;
      await options.restart(messageOf(error));
      failed = 0;
    }
  };
  run().catch((error: unknown) => {
    if (!stopping.signal.aborted) options.onFailure(error);
  });
  return { stop: () => stopping.abort() };
}

/**
 * Reads an execution that does not exist, which makes the server query its database. Resolves with undefined for "not
 * found", otherwise with the error. Uses a new connection each time, so that only the server can be at fault.
 */
async function probe(
  { address, namespace }: { address: string; namespace: string },
  deadlineMs: number,
): Promise<unknown> {
  try {
    const connection = await connectLocally(address, deadlineMs);
    try {
      await connection.withDeadline(Date.now() + deadlineMs, () =>
        connection.workflowService.describeWorkflowExecution({
          namespace,
          execution: { workflowId: 'launcher-probe' },
        }),
      );
    } finally {
      await connection.close();
    }
  } catch (error) {
    if (isGrpcServiceError(error) && (error.code as number) === NOT_FOUND) return undefined;
    return error;
  }
  return undefined;
}
