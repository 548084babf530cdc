import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Run } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { coalesce } from './coalesce.ts';
import { followStream, type Liveness } from './follow.ts';
import { createLiveAnswers, type LiveAnswers } from './live-answers.ts';
import { messagesKey, runEventsQuery, runKey, runQuery } from './runs.ts';

const REFETCH_EVERY_MS = 250;
/** Poll intervals without a stream, and with one, in case a frame is incomplete. */
const POLL_MS = 5_000;
const SLOW_POLL_MS = 30_000;

/**
 * A live run, which is read again with every frame of its stream and when the stream opens. A broken stream is reopened
 * with backoff; in the meantime, the run is polled every few seconds. A successful run is final and not followed; a
 * failed run can be resumed by anyone. `answers` are the agents' texts as they arrive.
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
    const refetch = coalesce(async () => {
      // Until the first read is done, an invalidation would join it, and it may be older than the frame.
      await queries.query({ ...runQuery(runId), staleTime: 'static' });
      await queries.invalidateQueries({ queryKey: runKey(runId) });
    }, REFETCH_EVERY_MS);
    const report = (state: Liveness): void => {
      if (signal.aborted) return;
      setLiveness(state);
      if (state !== 'reconnecting') refetch.ask();
    };
    report('reconnecting');
    void followStream((options) => api().stream(runId, { ...options, deltas: true }), {
      signal,
      report,
      onFrame: (frame) => {
        // A delta changes nothing that can be read.
        if (frame.type === 'agent_delta') answers.add(frame);
        else refetch.ask();
      },
    });
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
