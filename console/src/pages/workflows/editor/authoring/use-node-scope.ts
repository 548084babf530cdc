import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { chunk } from '#console/src/chunks.ts';
import type { CustomTool, Graph, JsonObject, Run } from '#client/index.ts';
import { toolsQuery } from '#console/src/queries/workspace.ts';
import { NO_SCOPE, type Scope } from './scope.ts';

const PAUSE_MS = 250;
const NO_TOOLS: readonly CustomTool[] = [];

const loadEvaluator = chunk(() => import('./evaluator.ts'));

/** The engine's code for texts; undefined until it is loaded. */
export const useEvaluator = () =>
  useQuery({ queryKey: ['text-evaluator'], queryFn: loadEvaluator, staleTime: Infinity }).data;

/** The scope of a node in the draft, with the values that it had in the run. Follows the draft after a short pause. */
export function useNodeScope(
  graph: Graph,
  inputSchema: JsonObject | null,
  {
    nodeId,
    run,
    stepKey,
    changed,
  }: {
    nodeId: string;
    run: Run | undefined;
    stepKey: string | undefined;
    /** The keys of the state that the member has changed. */
    changed: JsonObject | undefined;
  },
): Scope {
  const evaluator = useEvaluator();
  const { data: tools = NO_TOOLS } = useQuery(toolsQuery);
  const [settled] = useDebouncedValue(graph, PAUSE_MS);
  return useMemo(() => {
    if (evaluator === undefined) return NO_SCOPE;
    const found = run && evaluator.valuesAt(run, settled, { nodeId, stepKey });
    const recorded = found !== undefined && 'state' in found ? found.state : undefined;
    const state =
      changed === undefined ? recorded : ({ ...recorded, ...changed } as Scope['state']);
    return {
      completable: {
        names: evaluator.namesAt(settled, inputSchema, nodeId, { state, tools }),
        functions: evaluator.functionSignatures,
      },
      recorded,
      state,
      itemAt: run && ((key) => evaluator.itemAt(run, settled, { nodeId, stepKey: key })),
      problem: found !== undefined && 'problem' in found ? found.problem : undefined,
      evaluate: evaluator.evaluate,
      misspelledIn: evaluator.misspelledIn,
    };
  }, [evaluator, settled, inputSchema, nodeId, run, stepKey, changed, tools]);
}
