import { ActionIcon, Button, Group, Menu, Stack, Tabs } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import {
  IconDots,
  IconPinned,
  IconPinnedOff,
  IconPlayerPlay,
  IconTrash,
} from '@tabler/icons-react';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Step } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { nodePanel as text } from '#console/src/messages/en/workflows/editor.ts';
import type { JsonRecord } from '#console/src/parts/data/record.ts';
import type { EditorState } from '#console/src/pages/workflows/editor/use-editor.ts';
import { useScope } from '#console/src/pages/workflows/editor/authoring/scope.ts';
import type { StateChanges } from '#console/src/pages/workflows/editor/authoring/use-values-run.ts';
import { ValuesFrom } from '#console/src/pages/workflows/editor/authoring/values-from.tsx';
import {
  type NodeTesting,
  useNodeTest,
} from '#console/src/pages/workflows/node-tests/use-node-test.ts';
import { NodeInput } from './node-input.tsx';
import { NodeOutput } from './node-output.tsx';
import { NodeOutcome } from './node-outcome.tsx';
import { useInsert } from './use-insert.ts';

/** From this width on, the state is beside the fields. */
const WIDE = 560;

/** One node: the state that it starts with, its fields and edges, and its output. */
export function NodePanel({
  state,
  node,
  nodeId,
  item,
  changes,
  settings,
}: {
  state: EditorState;
  node: JsonRecord;
  nodeId: string;
  /** The step whose values are shown. */
  item: Step | undefined;
  /** What the member has changed in the state of the node. */
  changes: StateChanges;
  settings: ReactNode;
}) {
  const { values, saving, nodeTab, setNodeTab, draftRun } = state;
  const { ref, width } = useElementSize();
  const fields = useRef<HTMLDivElement>(null);
  const insert = useInsert(fields, () => setNodeTab('settings'));
  const { problem } = useScope();
  const testing = useNodeTest({
    ...{ workflowId: draftRun.workflowId, nodeId, node },
    runId: values.runId,
    stepKey: item?.step_key,
    state: changes.changed,
    isReached: problem === undefined,
    draft: saving.saveFirst,
  });
  const runTest = (): void => {
    setNodeTab('output');
    testing.test.mutate(undefined);
  };
  const pending = values.pending || testing.pending;
  useTestOfCard(state, { nodeId, pending, canTest: testing.canTest, runTest });
  const wide = width >= WIDE;
  const tab = wide && nodeTab === 'input' ? 'settings' : nodeTab;
  const stateTree = (
    <NodeInput key={changes.at} beside={wide} onInsert={insert.insert} changes={changes} />
  );
  return (
    <Tabs
      ref={ref}
      value={tab}
      onChange={(next) => setNodeTab(next ?? 'settings')}
      keepMounted={false}
      // Hidden fields keep their cursor, at which values are inserted.
      keepMountedMode="display-none"
      variant="pills"
    >
      <div className="node-bar">
        <Tabs.List aria-label={text.parts}>
          {!wide && <Tabs.Tab value="input">{words.input}</Tabs.Tab>}
          <Tabs.Tab value="settings">{text.settings}</Tabs.Tab>
          <Tabs.Tab value="output">{words.output}</Tabs.Tab>
        </Tabs.List>
        <NodeActions
          testing={testing}
          onTest={runTest}
          onDelete={() => state.change({ type: 'remove', nodes: [nodeId], edges: [] })}
        />
      </div>
      <Stack gap="xs">
        <NodeOutcome run={values.run} step={item} />
        <div>
          <ValuesFrom values={values} nodeId={nodeId} />
        </div>
      </Stack>
      <Tabs.Panel value="input" mt="sm">
        {stateTree}
      </Tabs.Panel>
      <Tabs.Panel value="settings" mt="sm" keepMounted>
        <div className="node-settings" data-wide={wide || undefined}>
          {wide && <section aria-label={words.input}>{stateTree}</section>}
          <div ref={fields} onFocus={insert.onFocus}>
            {settings}
          </div>
        </div>
      </Tabs.Panel>
      <Tabs.Panel value="output" mt="sm">
        <NodeOutput
          workflowId={draftRun.workflowId}
          {...{ testing, item }}
          unsaved={saving.unsaved}
        />
      </Tabs.Panel>
    </Tabs>
  );
}

/**
 * Runs the test that was requested at the card of the node, once the run and the pins that it uses are read. Without a
 * run, the output says what is missing.
 */
function useTestOfCard(
  { toTest, setToTest, setNodeTab }: EditorState,
  given: { nodeId: string; pending: boolean; canTest: boolean; runTest: () => void },
): void {
  const { nodeId, pending, canTest, runTest } = given;
  useEffect(() => {
    if (toTest === undefined) return;
    if (toTest === nodeId) setNodeTab('output');
    if (toTest === nodeId && pending) return;
    // Another node was selected before its run was read: that test is not wanted any more.
    setToTest(undefined);
    if (toTest === nodeId && canTest) runTest();
  });
}

/** What can be done with the node, always in view. */
function NodeActions({
  testing: { test, pin, unpin, pinned, pinFrom, canTest },
  onTest,
  onDelete,
}: {
  testing: NodeTesting;
  onTest: () => void;
  onDelete: () => void;
}) {
  const noRun = pinFrom === '';
  return (
    <Group gap={4} wrap="nowrap">
      <Button
        size="compact-sm"
        disabled={!canTest}
        loading={test.isPending}
        leftSection={<IconPlayerPlay size={14} aria-hidden />}
        title={canTest ? undefined : text.noRuns}
        onClick={onTest}
      >
        {text.test}
      </Button>
      {pinned === undefined ? (
        <ActionIcon
          variant="default"
          size={26}
          aria-label={text.pin}
          title={text.pin}
          disabled={noRun}
          loading={pin.isPending}
          onClick={() => pin.mutate(pinFrom)}
        >
          <IconPinned size={16} aria-hidden />
        </ActionIcon>
      ) : (
        <ActionIcon
          variant="light"
          size={26}
          aria-label={text.unpin}
          title={text.unpin}
          loading={unpin.isPending}
          onClick={() => unpin.mutate(undefined)}
        >
          <IconPinnedOff size={16} aria-hidden />
        </ActionIcon>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={26} aria-label={text.more}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            color="danger"
            leftSection={<IconTrash size={16} aria-hidden />}
            onClick={onDelete}
          >
            {text.delete}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}
