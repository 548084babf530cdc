import { Button, NativeSelect, Stack, Text, Title } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { Fragment, type ReactNode } from 'react';
import type { Graph } from '#client/index.ts';
import type { Drawing } from '#console/src/graph/drawn.ts';
import { kindNames } from '#console/src/messages/en/graph.ts';
import { words } from '#console/src/messages/en/words.ts';
import { selectionPanel as text } from '#console/src/messages/en/workflows/editor.ts';
import type { DraftAction } from './draft.ts';
import { EdgeRow } from './edge-fields.tsx';
import type { Selection } from './selection.ts';
import type { Mistake } from '#console/src/pages/workflows/mistakes/mistakes.ts';
import { NodeForm } from './node-form.tsx';
import { isRecord } from '#console/src/parts/data/record.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** Shows and edits the selection of the drawing, and allows selecting without a mouse. */
export function SelectionPanel({
  graph,
  drawing,
  selection,
  mistakes,
  tools,
  focused,
  around,
  change,
  onChoose,
}: {
  graph: Graph;
  drawing: Drawing;
  selection: Selection;
  mistakes: readonly Mistake[];
  tools: readonly string[];
  focused: string | undefined;
  /** What is around the fields of a node. */
  around: (fields: ReactNode) => ReactNode;
  change: (action: DraftAction) => void;
  onChoose: (selection: Selection) => void;
}) {
  // Items that were removed or renamed are no longer selected.
  const nodes = drawing.nodes.filter(({ id }) => selection.nodes.includes(id));
  const edges = drawing.edges.filter(({ id }) => selection.edges.includes(id));
  const node = nodes.length === 1 ? nodes[0] : undefined;
  const edge = edges.length === 1 && nodes.length === 0 ? edges[0] : undefined;
  return (
    <Stack gap="sm">
      <Title order={2} size="h6">
        {node !== undefined
          ? kindNames[node.kind]
          : edge !== undefined
            ? text.edge
            : nodes.length > 1
              ? text.several
              : text.none}
      </Title>
      <NativeSelect
        label={words.node}
        data={[
          { value: '', label: words.none },
          ...drawing.nodes.map(({ id, label }) => ({
            value: id,
            label: label === id ? id : `${label} (${id})`,
          })),
        ]}
        value={node?.id ?? ''}
        onChange={(event) => {
          const id = event.currentTarget.value;
          onChoose({ nodes: id === '' ? [] : [id], edges: [] });
        }}
      />
      {node !== undefined && (
        <Fragment key={placeOf(graph, node.id)}>
          {around(
            <NodeForm
              graph={graph}
              id={node.id}
              mistakes={mistakes}
              tools={tools}
              focused={focused}
              change={change}
              onRenamed={(to) => onChoose({ nodes: [to], edges: [] })}
            />,
          )}
        </Fragment>
      )}
      {edge !== undefined && (
        <div data-field="edges">
          <EdgeRow graph={graph} edge={edge} change={change} />
        </div>
      )}
      <SeveralSelected nodes={nodes} edges={edges} change={change} />
      {nodes.length + edges.length === 0 && <Dimmed>{text.nothing}</Dimmed>}
    </Stack>
  );
}

function SeveralSelected({
  nodes,
  edges,
  change,
}: {
  nodes: Drawing['nodes'];
  edges: Drawing['edges'];
  change: (action: DraftAction) => void;
}) {
  return (
    nodes.length > 1 && (
      <>
        <Text size="sm">{text.selected(nodes.length, edges.length)}</Text>
        <Button
          variant="light"
          color="danger"
          leftSection={<IconTrash size={16} aria-hidden />}
          onClick={() =>
            change({
              type: 'remove',
              nodes: nodes.map(({ id }) => id),
              edges: edges.map(({ at }) => at),
            })
          }
        >
          {text.delete}
        </Button>
      </>
    )
  );
}

/** Forms are keyed by the node's index in the graph, because they can change its ID. */
const placeOf = (graph: Graph, id: string): number =>
  graph.nodes.findIndex((node) => isRecord(node) && node['id'] === id);
