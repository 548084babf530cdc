import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { words } from '#console/src/messages/en/words.ts';
import { nodeTestPanel as text } from '#console/src/messages/en/workflows/node-tests.ts';
import type { JsonRecord } from '#console/src/parts/data/record.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { testRunsQuery } from '#console/src/queries/node-tests.ts';
import { RunSelect } from './run-select.tsx';
import { TestOptions, TestOutcome } from './test-options.tsx';
import { useNodeTest } from './use-node-test.ts';

const NO_RUNS: readonly never[] = [];

/** Tests a node with the state of a step, or of another run. The drawing shows which nodes are pinned. */
export function NodeTester({
  from,
  draft,
  ...tested
}: {
  workflowId: string;
  nodeId: string;
  node: JsonRecord;
  /** Whether the node is from the saved draft instead of the current version. */
  draft: boolean;
  /** The step whose state is suggested. */
  from: { runId: string; stepKey: string };
}) {
  const { data: runs = NO_RUNS } = useQuery(testRunsQuery(tested.workflowId));
  const [chosen, setChosen] = useState<string>();
  const runId = chosen ?? from.runId;
  const testing = useNodeTest({
    ...tested,
    runId,
    stepKey: runId === from.runId ? from.stepKey : undefined,
    draft: () => Promise.resolve(draft),
  });
  return (
    <Stack gap="sm">
      <RunSelect
        label={words.run}
        description={text.runAbout}
        runs={runs}
        value={runId}
        onChoose={setChosen}
      />
      <TestOptions testing={testing} />
      <Group gap="xs">
        <ActionButton size="compact-sm" action={testing.test} variant="filled">
          {text.test}
        </ActionButton>
        <ActionButton size="compact-sm" action={testing.pin} input={testing.pinFrom}>
          {testing.tested === undefined ? text.pinOfRun : text.pin}
        </ActionButton>
        {testing.pinned !== undefined && (
          <ActionButton size="compact-sm" action={testing.unpin} variant="subtle">
            {text.unpin}
          </ActionButton>
        )}
      </Group>
      <TestOutcome testing={testing} />
    </Stack>
  );
}
