import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Run } from '#client/index.ts';
import { runStepsQuery } from '#console/src/queries/runs.ts';
import { type Items, itemsOf } from './items.ts';
import { useRunGraph } from './use-run-graph.ts';

/** Undefined until the graph of the run was read. */
export function useItems(run: Run): Items | undefined {
  const { drawing, error } = useRunGraph(run);
  return useMemo(
    () => (drawing === undefined && error === null ? undefined : itemsOf(run, drawing)),
    [run, drawing, error],
  );
}

/** The run with the steps that failed, as far as they were read, which the record of a run with many steps may leave out. */
export function useWithFailures<Read extends Run | undefined>(run: Read): Read {
  const { data } = useInfiniteQuery({
    ...runStepsQuery(run?.id ?? '', { status: 'failed' }),
    enabled: run !== undefined && run.steps_next_cursor !== null,
  });
  const failed = useMemo(() => data?.pages.flatMap(({ steps }) => steps), [data]);
  return useMemo(() => {
    if (run === undefined || failed === undefined) return run;
    const known = new Set(run.steps.map(({ step_key }) => step_key));
    const more = failed.filter(({ step_key }) => !known.has(step_key));
    return more.length === 0 ? run : { ...run, steps: [...run.steps, ...more] };
  }, [run, failed]);
}
