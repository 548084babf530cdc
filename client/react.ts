import { useEffect, useRef, useState } from 'react';
import { createClient } from './client.ts';
import { type FollowedRun, followed, nextTry, withFrame } from './followed-run.ts';

export type { FollowedRun, FollowedStep } from './followed-run.ts';

export interface UseRunOptions {
  /** Where the service is. Default: http://127.0.0.1:8000. */
  baseUrl?: string | undefined;
  /** A stream token of the run. */
  token?: string | undefined;
  /** Gets a stream token from your server: for the first connection, and again when it has expired. */
  getToken?: (() => Promise<string>) | undefined;
}

/**
 * Follows a run with a stream token, from its first frame until it has ended. `error` is set when the stream cannot
 * continue: an error with a `status` or a `code`, or what `getToken` throws. Without a run id it waits for one.
 */
export function useRun(
  runId: string | undefined,
  { baseUrl, token, getToken }: UseRunOptions,
): FollowedRun {
  const [run, setRun] = useState(followed);
  // A function that is written inside a component is another one on each rendering, and must not reconnect.
  const latest = useRef(getToken);
  useEffect(() => {
    latest.current = getToken;
  });
  useEffect(() => {
    setRun(followed);
    if (runId === undefined) return undefined;
    const controller = new AbortController();
    const { signal } = controller;
    const follow = async (): Promise<void> => {
      const client = createClient({ ...(baseUrl !== undefined && { baseUrl }) });
      let after = 0;
      for (let tries = 0; ; tries += 1) {
        const current = latest.current === undefined ? token : await latest.current();
        try {
          for await (const { seq, frame } of client.followRun(runId, {
            token: current,
            after,
            signal,
          })) {
            tries = 0;
            after = seq ?? after;
            if (!signal.aborted) setRun((before) => withFrame(before, frame));
          }
          return;
        } catch (error) {
          if (latest.current === undefined || !(await nextTry(error, tries, signal))) throw error;
        }
      }
    };
    follow().catch((error: unknown) => {
      if (!signal.aborted) setRun((before) => ({ ...before, error: error as Error }));
    });
    return () => controller.abort();
  }, [runId, baseUrl, token]);
  return run;
}
