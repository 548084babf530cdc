import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { type AgentDeltaFrame, type Run, StreamError } from '../../../client/index.ts';
import { api } from '../api.ts';
import { coalesce } from './coalesce.ts';
import { createLiveAnswers, type LiveAnswers } from './live-answers.ts';
import { messagesKey, runEventsQuery, runKey, runQuery } from './runs.ts';

/** `ended`: no more frames will come, or the stream cannot be reopened. */
export type Liveness = 'live' | 'reconnecting' | 'ended';

const REFETCH_EVERY_MS = 250;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 15_000;
/** Poll intervals without a stream, and with one, in case a frame is incomplete. */
const POLL_MS = 5_000;
const SLOW_POLL_MS = 30_000;

/** Close codes after which a retry cannot succeed: no valid token, not permitted, unknown run. */
const final: readonly number[] = [4401, 4403, 4404];

/**
 * A live run, read again with every frame of its stream and when the stream opens. A broken stream is reopened with
 * backoff; meanwhile the run is polled every few seconds. A successful run is final and not followed; a failed run can
 * be resumed by anyone. `answers` are the texts that agents are saying.
 */
export function useRunStream(runId: string): {
  query: UseQueryResult<Run>;
  liveness: Liveness;
  answers: LiveAnswers;
} {
  const queries = useQueryClient();
  const [liveness, setLiveness] = useState<Liveness>('reconnecting');
  const [answers] = useState(createLiveAnswers);
  const query = useQuery({
    ...runQuery(runId),
    refetchInterval: ({ state }) => {
      if (liveness === 'ended' || state.data?.status === 'success') return false;
      return liveness === 'live' ? SLOW_POLL_MS : POLL_MS;
    },
  });
  const followed = query.data?.status !== 'success';
  useEffect(() => {
    if (!followed) return;
    const controller = new AbortController();
    const { signal } = controller;
    const refetch = coalesce(
      () => queries.invalidateQueries({ queryKey: runKey(runId) }),
      REFETCH_EVERY_MS,
    );
    const report = (state: Liveness): void => {
      if (!signal.aborted) setLiveness(state);
    };
    report('reconnecting');
    void follow(runId, { signal, report, onFrames: refetch.ask, onDelta: answers.add });
    return () => {
      controller.abort();
      refetch.stop();
      // Events and conversations may have been read just before the final state of the run.
      void queries.invalidateQueries({ queryKey: runEventsQuery(runId).queryKey });
      void queries.invalidateQueries({ queryKey: messagesKey(runId) });
    };
  }, [runId, followed, queries, answers]);
  return { query, liveness: followed ? liveness : 'ended', answers };
}

async function follow(
  runId: string,
  {
    signal,
    report,
    onFrames,
    onDelta,
  }: {
    signal: AbortSignal;
    report: (state: Liveness) => void;
    onFrames: () => void;
    onDelta: (delta: AgentDeltaFrame) => void;
  },
): Promise<void> {
  let broken = 0;
  const onOpen = (): void => {
    broken = 0;
    report('live');
    onFrames();
  };
  while (!signal.aborted) {
    try {
      for await (const frame of api().stream(runId, { signal, onOpen, deltas: true })) {
        // A delta changes nothing that can be read.
        if (frame.type === 'agent_delta') onDelta(frame);
        else onFrames();
      }
    } catch (error) {
      if (error instanceof StreamError && final.includes(error.code)) {
        report('ended');
        onFrames();
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
