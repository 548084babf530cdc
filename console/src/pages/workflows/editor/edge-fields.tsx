import { ActionIcon, Button, Fieldset, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { IconArrowRight, IconTrash } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import type { Graph } from '#client/index.ts';
import { type DrawnEdge, drawingOf } from '#console/src/graph/drawn.ts';
import { edgeFields as texts } from '#console/src/messages/en/workflows/editor.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { type Branch, branchesOf, type DraftAction, freeBranch, nodeOf } from './draft.ts';

/** The results of a node that an edge can require. Without one, the edge is always taken, unless the node fails. */
function branchOptions(branches: readonly Branch[], current?: Branch) {
  const known = current === undefined || branches.includes(current);
  const unlessFailed = branches.includes('true') ? texts.anyDecision : texts.onSuccess;
  return [
    { value: '', label: branches.includes('error') ? unlessFailed : texts.always },
    ...[...branches, ...(known ? [] : [current])].map((branch) => ({
      value: branch,
      label: texts.branches[branch],
    })),
  ];
}

const branchOf = (text: string): Branch | undefined => (text === '' ? undefined : (text as Branch));

/** The edges of a node, and a form to add one without a mouse. */
export function EdgeFields({
  graph,
  id,
  change,
}: {
  graph: Graph;
  id: string;
  change: (action: DraftAction) => void;
}) {
  const { edges } = drawingOf(graph);
  const outgoing = edges.filter(({ source }) => source === id);
  const incoming = edges.filter(({ target }) => target === id);
  return (
    <Fieldset legend={texts.title} data-field="edges">
      <Stack gap="xs">
        {[...outgoing, ...incoming.filter(({ source }) => source !== id)].map((edge) => (
          <EdgeRow key={edge.id} graph={graph} edge={edge} change={change} />
        ))}
        {outgoing.length + incoming.length === 0 && <Dimmed>{texts.empty}</Dimmed>}
        <ConnectForm graph={graph} id={id} change={change} />
      </Stack>
    </Fieldset>
  );
}

/** One edge: its target, its branch and the button to remove it. */
export function EdgeRow({
  graph,
  edge: { source, target, conditionValue, at },
  change,
}: {
  graph: Graph;
  edge: DrawnEdge;
  change: (action: DraftAction) => void;
}) {
  const branches = branchesOf(nodeOf(graph, source));
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between">
      <Text size="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
        <UserText>{source}</UserText>{' '}
        <IconArrowRight size={12} aria-label={texts.arrow} style={{ verticalAlign: 'middle' }} />{' '}
        <UserText>{target}</UserText>
      </Text>
      <Group gap={4} wrap="nowrap">
        {(branches.length > 0 || conditionValue !== undefined) && (
          <NativeSelect
            size="xs"
            w={116}
            aria-label={texts.branchOf(source, target)}
            data={branchOptions(branches, conditionValue)}
            value={conditionValue ?? ''}
            onChange={(event) =>
              change({ type: 'branch', edge: at, branch: branchOf(event.currentTarget.value) })
            }
          />
        )}
        <ActionIcon
          variant="subtle"
          color="danger"
          aria-label={texts.delete(source, target)}
          onClick={() => change({ type: 'remove', nodes: [], edges: [at] })}
        >
          <IconTrash size={16} />
        </ActionIcon>
      </Group>
    </Group>
  );
}

function ConnectForm({
  graph,
  id,
  change,
}: {
  graph: Graph;
  id: string;
  change: (action: DraftAction) => void;
}) {
  const { nodes } = drawingOf(graph);
  const others = nodes.filter((node) => node.id !== id);
  const [chosen, setChosen] = useState('');
  const [branch, setBranch] = useState<string>();
  const targets = useRef<HTMLSelectElement>(null);
  const target = others.some((node) => node.id === chosen) ? chosen : '';
  const branches = branchesOf(nodeOf(graph, id));
  const shownBranch = branch ?? freeBranch(graph, id) ?? '';
  if (others.length === 0) return null;
  return (
    <Group gap="xs" align="flex-end" wrap="wrap">
      <NativeSelect
        size="xs"
        label={texts.connectTo}
        ref={targets}
        flex={1}
        miw={120}
        data={[
          { value: '', label: texts.selectNode },
          ...others.map((node) => ({ value: node.id, label: node.label })),
        ]}
        value={target}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
      {branches.length > 0 && (
        <NativeSelect
          size="xs"
          label={texts.branch}
          w={116}
          data={branchOptions(branches)}
          value={shownBranch}
          onChange={(event) => setBranch(event.currentTarget.value)}
        />
      )}
      <Button
        size="xs"
        variant="default"
        disabled={target === ''}
        onClick={() => {
          change({ type: 'connect', source: id, target, branch: branchOf(shownBranch) });
          setChosen('');
          setBranch(undefined);
          // The button becomes disabled, which would drop the focus.
          targets.current?.focus();
        }}
      >
        {texts.connect}
      </Button>
    </Group>
  );
}
