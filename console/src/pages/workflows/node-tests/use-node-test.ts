import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { JsonObject, NodeTest, Pin } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import type { JsonRecord } from '#console/src/parts/data/record.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { pinsKey, pinsQuery } from '#console/src/queries/node-tests.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { allowancesOf } from './allowances.ts';

const NO_PINS: readonly Pin[] = [];

interface Tested {
  workflowId: string;
  nodeId: string;
  node: JsonRecord;
  /** The run whose state the node starts with; empty if there is none. */
  runId: string;
  /** Its step; by default, the node's last one. */
  stepKey: string | undefined;
  /** Changed keys of that state, with their values. */
  state?: JsonObject | undefined;
  /** Whether the run got to the node. If not, `state` is the whole state. */
  isReached?: boolean;
  /** Resolves with whether the node of the draft is tested, instead of the current version's. */
  draft: () => Promise<boolean>;
}

/** The test of a node, what it may execute, and the node's pinned output. */
export function useNodeTest(tested: Tested) {
  const { workflowId, nodeId, node, runId, stepKey, state, isReached = true, draft } = tested;
  const { data: pins = NO_PINS, isPending: pending } = useQuery(pinsQuery(workflowId));
  const [allow, setAllow] = useState<string[]>([]);
  const [withPins, setWithPins] = useState(true);
  const others = pins.filter(({ node_id: id }) => id !== nodeId).map(({ node_id: id }) => id);
  const isWhole = state !== undefined && (runId === '' || !isReached);
  const ofRun = {
    run_id: runId,
    step_key: stepKey,
    pins: others.length > 0 ? withPins : undefined,
  };
  const test = useAction(
    async () =>
      api().testNode(workflowId, nodeId, {
        ...(isWhole ? {} : ofRun),
        state,
        draft: await draft(),
        allow,
      }),
    { changes: [runsKey], quiet: true },
  );
  const pin = useAction((from: string) => api().savePin(workflowId, nodeId, { run_id: from }), {
    changes: [pinsKey(workflowId)],
  });
  const unpin = useAction(() => api().removePin(workflowId, nodeId), {
    changes: [pinsKey(workflowId)],
  });
  const testRun = hasOutput(test.data) ? test.data.run_id : undefined;
  return {
    test,
    pin,
    unpin,
    allowances: allowancesOf(node),
    allow,
    setAllow,
    /** Other nodes whose pinned outputs the test can use. */
    others,
    withPins,
    setWithPins,
    pinned: pins.find(({ node_id: id }) => id === nodeId),
    /** The run of a successful test, whose output is then pinned. */
    tested: testRun,
    pinFrom: testRun ?? runId,
    canTest: runId !== '' || state !== undefined,
    /** Whether the pins are still being read. */
    pending,
  };
}

export type NodeTesting = ReturnType<typeof useNodeTest>;

const hasOutput = (tested: NodeTest | undefined): tested is NodeTest =>
  tested?.status === 'success';
