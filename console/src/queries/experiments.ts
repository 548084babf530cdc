import { infiniteQueryOptions } from '@tanstack/react-query';
import type { ComparedRun } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { cursorPages } from './pages.ts';

export const experimentsKey = ['experiments'] as const;

const READ_EVERY_MS = 5_000;
/** The poll interval while one is running. */
const FOLLOW_EVERY_MS = 1_000;

/** The experiments of a workflow, newest first, page by page. */
export const experimentsQuery = (workflowId: string) =>
  infiniteQueryOptions({
    queryKey: [...experimentsKey, 'of', workflowId],
    queryFn: ({ signal, pageParam }) =>
      api().listExperiments(workflowId, { limit: 20, cursor: pageParam }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap((page) => page.experiments),
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      const running = pages.some(({ experiments }) =>
        experiments.some(({ status }) => status === 'running'),
      );
      return (running ? FOLLOW_EVERY_MS : READ_EVERY_MS) * Math.max(1, pages.length);
    },
  });

/** An experiment with its runs, worst first, page by page. Polled while it is running. */
export const experimentQuery = (experimentId: string, outcome?: ComparedRun['outcome']) =>
  infiniteQueryOptions({
    queryKey: [...experimentsKey, 'one', experimentId, outcome ?? ''],
    queryFn: ({ signal, pageParam }) =>
      api().getExperiment(experimentId, { limit: 100, outcome, cursor: pageParam }, { signal }),
    ...cursorPages,
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.status === 'running'
        ? FOLLOW_EVERY_MS * (state.data.pages.length || 1)
        : false,
  });
