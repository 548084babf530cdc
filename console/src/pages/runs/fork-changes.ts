import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Run } from '#client/index.ts';
import { changesOf } from '#console/src/parts/data/changed-paths.tsx';
import { runQuery } from '#console/src/queries/runs.ts';
import type { JsonDifference } from '#shared/graph/json-differences.ts';
import { useStateAt } from './state-at.ts';

/** How the input and the state of a fork differ from those of the run that it was started from. */
export interface ForkChanges {
  input: JsonDifference[];
  state: JsonDifference[];
}

/** Undefined for a run that is no fork, and while the other run or its state is not known. */
export function useForkChanges(run: Run): ForkChanges | undefined {
  const { forked_from: sourceId, forked_from_step: stepKey } = run;
  const { data: source } = useQuery({ ...runQuery(sourceId ?? ''), enabled: sourceId !== null });
  const before = useStateAt(source, stepKey ?? undefined);
  return useMemo(() => {
    if (source === undefined) return undefined;
    const input = changesOf(source.input, run.input);
    if (stepKey === null) return { input, state: [] };
    if (before === undefined) return undefined;
    const merged = run.laid?.[stepKey] ?? {};
    const replaced = before ?? {};
    // Only what the fork replaced: with another input, more of its state differs.
    return { input, state: changesOf(replaced, { ...replaced, ...merged }) };
  }, [source, run.input, run.laid, stepKey, before]);
}
