import { useMemo } from 'react';
import type { JsonObject, Run } from '#client/index.ts';
import { useEvaluator } from '#console/src/pages/workflows/editor/authoring/use-node-scope.ts';
import { nodeKeyOf } from './steps/agent-steps.ts';
import { useRunGraph } from './use-run-graph.ts';

/**
 * The state with which a step of a run started, computed from the recorded outputs. Undefined while it is not known, null
 * if it cannot be.
 */
export function useStateAt(
  run: Run | undefined,
  stepKey: string | undefined,
): JsonObject | null | undefined {
  const { graph } = useRunGraph(run);
  const evaluator = useEvaluator();
  return useMemo(() => {
    const step = run?.steps.find(({ step_key }) => step_key === stepKey);
    if (run === undefined || evaluator === undefined || graph === undefined) return undefined;
    if (step === undefined) return null;
    const found = evaluator.valuesAt(run, graph, {
      nodeId: step.node_id,
      stepKey: nodeKeyOf(step),
    });
    return 'state' in found ? (found.state as JsonObject) : null;
  }, [run, stepKey, graph, evaluator]);
}
