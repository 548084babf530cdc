import { Button, Fieldset, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { IconArrowRight } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import type { Graph } from '#client/index.ts';
import type { NodeKind } from '#shared/contract/workflows/graph.ts';
import { repeats } from '#shared/graph/kinds.ts';
import { type DrawnEdge, drawingOf } from '#console/src/graph/drawn.ts';
import {
  conditionOf,
  type PortId,
  portName,
  portOf,
  portsOfKind,
} from '#console/src/graph/ports.ts';
import { edgeFields as texts } from '#console/src/messages/en/workflows/editor.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { RemoveButton } from '#console/src/parts/forms/remove-button.tsx';
import { type DraftAction, freeBranch, nodeOf } from './draft.ts';

/** The ports that an edge of this node can leave, and the one that it leaves in a draft with a mistake. */
function portOptions(kind: NodeKind, current?: PortId) {
  const ports = portsOfKind(kind);
  // A decision can also be left by an edge that does not depend on it.
  const all = ports.includes('next') || repeats({ kind }) ? ports : [...ports, 'next' as const];
  return [...all, ...(current === undefined || all.includes(current) ? [] : [current])].map(
    (port) => ({ value: port, label: portName(kind, port) }),
  );
}

/** Only nodes of a known kind are drawn, with their edges. */
const kindOf = (graph: Graph, id: string): NodeKind => nodeOf(graph, id)?.['kind'] as NodeKind;

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
  const kind = kindOf(graph, source);
  const port = portOf(kind, conditionValue);
  const options = portOptions(kind, port);
  const { nodes } = drawingOf(graph);
  const labelOf = (id: string): string => nodes.find((node) => node.id === id)?.label ?? id;
  const [from, to] = [labelOf(source), labelOf(target)];
  return (
    <Group gap="xs" wrap="nowrap" justify="space-between">
      <Text size="sm" miw={0} style={{ overflowWrap: 'anywhere' }}>
        <UserText>{from}</UserText>{' '}
        <IconArrowRight size={12} aria-label={texts.arrow} style={{ verticalAlign: 'middle' }} />{' '}
        <UserText>{to}</UserText>
      </Text>
      <Group gap={4} wrap="nowrap">
        {options.length > 1 && (
          <NativeSelect
            size="xs"
            w={116}
            aria-label={texts.branchOf(from, to)}
            data={options}
            value={port}
            onChange={({ currentTarget: { value } }) =>
              change({ type: 'branch', edge: at, branch: conditionOf(value as PortId) })
            }
          />
        )}
        <RemoveButton
          label={texts.delete(from, to)}
          onClick={() => change({ type: 'remove', nodes: [], edges: [at] })}
        />
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
  const [branch, setBranch] = useState<PortId>();
  const targets = useRef<HTMLSelectElement>(null);
  const target = others.some((node) => node.id === chosen) ? chosen : '';
  const kind = kindOf(graph, id);
  const options = portOptions(kind);
  const port = branch ?? portOf(kind, freeBranch(graph, id));
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
      {options.length > 1 && (
        <NativeSelect
          size="xs"
          label={texts.branch}
          w={116}
          data={options}
          value={port}
          onChange={(event) => setBranch(event.currentTarget.value as PortId)}
        />
      )}
      <Button
        size="xs"
        variant="default"
        disabled={target === ''}
        onClick={() => {
          change({ type: 'connect', source: id, target, branch: conditionOf(port) });
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
