import { Alert, Box, Group, Stack, Text } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import type { Workflow } from '../../../../client/index.ts';
import { GraphView } from '../../graph/graph-view.tsx';
import { Empty } from '../../parts/empty.tsx';
import { JsonView } from '../../parts/code/json-view.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Section } from '../../parts/page.tsx';
import { useMay } from '../../queries/identity.ts';
import { nodeOf } from './editor/draft.ts';
import { MistakeList } from './mistakes/mistake-list.tsx';
import { countByNode, countWords } from './mistakes/mistakes.ts';
import { useMistakes } from './mistakes/use-mistakes.ts';

/** The mistakes in the graph, and their marks on its cards. */
function useMistakeCards({ graph, input_schema: schema }: Workflow) {
  const { mistakes } = useMistakes(graph, schema);
  const counts = useMemo(() => countByNode(mistakes ?? []), [mistakes]);
  const cards = useMemo(
    () =>
      new Map(
        [...counts].map(([nodeId, count]) => [
          nodeId,
          { colour: count.errors > 0 ? 'red' : 'yellow', spoken: countWords(count) ?? '' },
        ]),
      ),
    [counts],
  );
  const cardOf = useCallback((nodeId: string) => cards.get(nodeId) ?? NOTHING, [cards]);
  return { mistakes, cardOf };
}

/** The read-only graph, its mistakes and the selected node. */
export function GraphTab({ workflow }: { workflow: Workflow }) {
  const { id, graph } = workflow;
  const [selected, setSelected] = useState<string>();
  const { mistakes, cardOf } = useMistakeCards(workflow);
  const mayEdit = useMay('create_edit_workflows');
  if (graph.nodes.length === 0) {
    return (
      <Empty title="The graph is empty">
        {mayEdit && (
          <TextLink to="/workflows/$workflowId/edit" params={{ workflowId: id }}>
            Open the editor
          </TextLink>
        )}
      </Empty>
    );
  }
  const node = selected === undefined ? undefined : nodeOf(graph, selected);
  return (
    <Stack gap="md">
      {mistakes?.some(({ severity }) => severity === 'error') === true && (
        <Alert color="red" title="Fix these errors to run">
          <MistakeList mistakes={mistakes} onChoose={({ nodeId }) => setSelected(nodeId)} />
        </Alert>
      )}
      <Group align="stretch" gap="md" wrap="wrap">
        <Box flex="3 1 420px" miw={0} w="100%">
          <GraphView
            graph={graph}
            cardOf={cardOf}
            selected={selected}
            onSelect={setSelected}
            height="min(60vh, 560px)"
          />
        </Box>
        {node !== undefined && (
          <Box flex="1 1 300px" miw={0}>
            <Section title="Node">
              <JsonView value={node} what="the node" />
            </Section>
          </Box>
        )}
      </Group>
      {node === undefined && (
        <Text size="sm" c="dimmed">
          Select a node to see its settings.
        </Text>
      )}
    </Stack>
  );
}

const NOTHING = {};
