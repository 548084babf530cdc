import { type Query, type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { api } from '#console/src/api.ts';
import { useSessionToken } from '#console/src/session.ts';
import {
  alertsQuery,
  keysKey,
  metricsQuery,
  pricesKey,
  secretsKey,
  templatesQuery,
  toolsKey,
  usageQuery,
  webhooksKey,
  workspaceQuery,
} from './workspace.ts';
import { backtestsKey } from './backtests.ts';
import { budgetsKey } from './budgets.ts';
import { coalesce } from './coalesce.ts';
import { dataKeysKey, endpointsKey, feedsKey, recordsKey, sourcesKey } from './data.ts';
import { triggersKey } from './events.ts';
import { experimentsKey } from './experiments.ts';
import { followStream } from './follow.ts';
import { identityQuery } from './identity.ts';
import { membersKey } from './members.ts';
import { policiesKey } from './policies.ts';
import { runsKey } from './runs.ts';
import { schedulesKey } from './schedules.ts';
import { setStreamLive } from './stream-state.ts';
import { workflowsKey } from './workflows.ts';

/** The minimum interval between reads because of frames, since on a busy workspace something changes all the time. */
const REFETCH_EVERY_MS = 2_000;

const ofRuns: readonly QueryKey[] = [
  runsKey,
  metricsQuery.queryKey,
  usageQuery.queryKey,
  budgetsKey,
  ['decisions'],
];

/** The queries that show what a frame reports. Audit entries come with most of them. */
const shownIn: Readonly<Record<string, readonly QueryKey[]>> = {
  api_key: [keysKey],
  budget: [budgetsKey, usageQuery.queryKey],
  data_key: [dataKeysKey],
  data_webhook: [endpointsKey],
  feed: [feedsKey],
  job: [backtestsKey, experimentsKey],
  member: [membersKey, identityQuery.queryKey],
  record: [recordsKey, feedsKey],
  run: ofRuns,
  secret: [secretsKey],
  source: [sourcesKey],
  step: ofRuns,
  template: [templatesQuery.queryKey],
  tool: [toolsKey],
  workflow: [workflowsKey, schedulesKey, triggersKey, webhooksKey],
  workspace: [
    workspaceQuery.queryKey,
    usageQuery.queryKey,
    policiesKey,
    pricesKey,
    alertsQuery.queryKey,
  ],
};

/**
 * Whether a frame makes the query read again. The page of a run has its own stream, and in a list with several pages,
 * rows stay in place.
 */
const follows = ({ queryKey, state }: Query): boolean => {
  if (queryKey[0] === runsKey[0] && queryKey[1] === 'run') return false;
  const { pages } = (state.data ?? {}) as { pages?: unknown };
  return !Array.isArray(pages) || pages.length <= 1;
};

/**
 * Reads what the page shows again. Frames only report later changes: what changed before the stream opened, or while it
 * was broken, is unknown. Reads in flight may have seen an earlier state, so they end first.
 */
async function readAgain(queries: QueryClient, signal: AbortSignal): Promise<void> {
  const inFlight = queries.getQueryCache().findAll({ fetchStatus: 'fetching' });
  await Promise.allSettled(inFlight.flatMap(({ promise }) => promise ?? []));
  if (!signal.aborted) await queries.invalidateQueries();
}

/** Keeps what every page shows up to date: reads it again when the workspace's stream reports it. */
export function useWorkspaceStream(enabled: boolean): void {
  const queries = useQueryClient();
  const token = useSessionToken();
  useEffect(() => {
    if (!enabled) return;
    const controller = new AbortController();
    const { signal } = controller;
    const changed = new Set<string>();
    let broken = 0;
    const refetch = coalesce(async () => {
      const topics = [...changed];
      changed.clear();
      const keys = topics.flatMap((topic) => shownIn[topic] ?? []);
      const all = [...keys, ...(topics.some((topic) => topic !== 'step') ? [['audit']] : [])];
      await Promise.all(
        all.map((queryKey) => queries.invalidateQueries({ queryKey, predicate: follows })),
      );
    }, REFETCH_EVERY_MS);
    void followStream((options) => api().streamWorkspace(options), {
      signal,
      report: (state) => {
        if (signal.aborted) return;
        setStreamLive(state === 'live');
        broken = state === 'live' ? 0 : broken + 1;
        // When it cannot be reopened either, the reads find out whether the service responds, and polling begins.
        if (state === 'live' || broken === 2) void readAgain(queries, signal);
      },
      onFrame: ({ changed: topics }) => {
        for (const topic of topics) changed.add(topic);
        refetch.ask();
      },
    });
    return () => {
      controller.abort();
      setStreamLive(false);
      refetch.stop();
    };
  }, [enabled, token, queries]);
}
