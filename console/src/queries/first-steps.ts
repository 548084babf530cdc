import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { runsKey } from './runs.ts';

/** Whether someone has resumed a run. Below the key of runs, so that frames refresh it. */
export const resumedQuery = queryOptions({
  queryKey: [...runsKey, 'resumed'],
  queryFn: async ({ signal }) =>
    (await api().listAudit({ action: 'resume', limit: 1 }, { signal })).total > 0,
});

/** Whether something was tried on a past run, in a rehearsal or an experiment. */
export const triedQuery = queryOptions({
  queryKey: [...runsKey, 'tried'],
  queryFn: async ({ signal }) =>
    (await api().listRuns({ mode: 'recorded', limit: 1 }, { signal })).runs.length > 0,
});
