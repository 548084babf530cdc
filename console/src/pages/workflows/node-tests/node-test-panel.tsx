import { Accordion, Checkbox, Group, Select, Stack, Text } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NodeTest, Pin, RunSummary } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { nodeTestPanel as text } from '#console/src/messages/en/workflows/node-tests.ts';
import type { JsonRecord } from '#console/src/parts/data/record.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { pinsKey, pinsQuery, testRunsQuery } from '#console/src/queries/node-tests.ts';
import { runsKey } from '#console/src/queries/runs.ts';
import { allowancesOf } from './allowances.ts';
import { runChoices } from './run-choices.ts';
import { TestResult } from './test-result.tsx';

const NO_PINS: readonly Pin[] = [];
const NO_RUNS: readonly RunSummary[] = [];

interface Tested {
  workflowId: string;
  nodeId: string;
  node: JsonRecord;
  /** Whether the node is from the saved draft instead of the current version. */
  draft: boolean;
  /** Whether the editor has changes that are not saved. */
  unsaved: boolean;
  /** The step whose state is suggested; by default, that of the newest run. */
  from?: { runId: string; stepKey: string };
  /** Where the run is selected, if not here. */
  values?: { runId: string; choose: (runId: string | undefined) => void };
}

/** Executes the selected node with the state of a past run. */
export function NodeTestPanel(tested: Tested) {
  const mayRun = useMay('run_workflows');
  // Once opened, it stays open for other nodes, so that one click tests the next one.
  const [open, setOpen] = useSessionStorage<string | null>({
    key: 'workflows.node-test',
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  if (!mayRun) return null;
  return (
    <Accordion
      variant="contained"
      keepMounted={false}
      order={3}
      mt="sm"
      value={open}
      onChange={setOpen}
    >
      <Accordion.Item value="test">
        <Accordion.Control>{text.title}</Accordion.Control>
        <Accordion.Panel>
          <NodeTester {...tested} />
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

/** The fields of the test, and its result. The drawing shows which nodes are pinned. */
export function NodeTester({ workflowId, nodeId, node, draft, unsaved, from, values }: Tested) {
  const { data: runs = NO_RUNS, isSuccess } = useQuery(testRunsQuery(workflowId));
  const { data: pins = NO_PINS } = useQuery(pinsQuery(workflowId));
  const [own, setOwn] = useState<string>();
  const setChosen = values?.choose ?? setOwn;
  const [allow, setAllow] = useState<string[]>([]);
  const [withPins, setWithPins] = useState(true);
  const runId = values?.runId ?? own ?? from?.runId ?? runs[0]?.id ?? '';
  const stepKey = runId === from?.runId ? from.stepKey : undefined;
  const others = pins.filter(({ node_id: id }) => id !== nodeId);
  const test = useAction(
    () =>
      api().testNode(workflowId, nodeId, {
        run_id: runId,
        draft,
        allow,
        step_key: stepKey,
        pins: others.length > 0 ? withPins : undefined,
      }),
    { changes: [runsKey], quiet: true },
  );
  const pin = useAction((from: string) => api().savePin(workflowId, nodeId, { run_id: from }), {
    changes: [pinsKey(workflowId)],
  });
  const unpin = useAction(() => api().removePin(workflowId, nodeId), {
    changes: [pinsKey(workflowId)],
  });
  const pinned = pins.find(({ node_id: id }) => id === nodeId);
  if (isSuccess && runs.length === 0 && from === undefined) {
    return <Dimmed>{text.noRuns}</Dimmed>;
  }
  const allowances = allowancesOf(node);
  const tested = hasOutput(test.data) ? test.data.run_id : undefined;
  return (
    <Stack gap="sm">
      <Select
        label={words.run}
        description={text.runAbout}
        data={runChoices(runs, runId)}
        value={runId}
        allowDeselect={false}
        onChange={(value) => setChosen(value ?? undefined)}
      />
      {allowances.length > 0 && (
        <Checkbox.Group
          label={text.allow}
          description={text.allowAbout}
          value={allow}
          onChange={setAllow}
        >
          <Group gap="sm" mt={4}>
            {allowances.map((name) => (
              <Checkbox key={name} value={name} label={name} />
            ))}
          </Group>
        </Checkbox.Group>
      )}
      {others.length > 0 && (
        <Checkbox
          label={text.usePins(others.map(({ node_id: id }) => id).join(', '))}
          checked={withPins}
          onChange={(event) => setWithPins(event.currentTarget.checked)}
        />
      )}
      {unsaved && <Dimmed>{text.saveFirst}</Dimmed>}
      <Group gap="xs">
        <ActionButton
          size="compact-sm"
          action={test}
          disabled={unsaved || runId === ''}
          variant="filled"
        >
          {text.test}
        </ActionButton>
        {/* Pins the output of a successful test, or else of the run. */}
        <ActionButton
          size="compact-sm"
          action={pin}
          input={tested ?? runId}
          disabled={(tested ?? runId) === ''}
        >
          {tested === undefined ? text.pinOfRun : text.pin}
        </ActionButton>
        {pinned !== undefined && (
          <ActionButton size="compact-sm" action={unpin} variant="subtle">
            {text.unpin}
          </ActionButton>
        )}
      </Group>
      {test.isError && (
        <Text size="sm" c="danger" role="alert">
          {describeError(test.error)}
        </Text>
      )}
      {test.data !== undefined && <TestResult tested={test.data} />}
    </Stack>
  );
}

const hasOutput = (tested: NodeTest | undefined): tested is NodeTest =>
  tested?.status === 'success';
