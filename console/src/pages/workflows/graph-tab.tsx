import { Alert, Box, Group, Stack } from '@mantine/core';
import { useCallback, useMemo, useState } from 'react';
import type { Workflow } from '#client/index.ts';
import { GraphView } from '#console/src/graph/graph-view.tsx';
import { words } from '#console/src/messages/en/words.ts';
import { graphTab as text } from '#console/src/messages/en/workflows/workflow.ts';
import { Empty } from '#console/src/parts/empty.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Section } from '#console/src/parts/page.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { nodeOf } from './editor/draft.ts';
import { MistakeList } from './mistakes/mistake-list.tsx';
import { countByNode, countWords } from './mistakes/mistakes.ts';
import { useVersionMistakes } from './mistakes/use-mistakes.ts';

/** The mistakes in the graph, and their marks on its cards. */
function useMistakeCards(workflow: Workflow) {
  const checked = useVersionMistakes(workflow);
  const { mistakes } = checked;
  const counts = useMemo(() => countByNode(mistakes ?? []), [mistakes]);
  const cards = useMemo(
    () =>
      new Map(
        [...counts].map(([nodeId, count]) => [
          nodeId,
          { colour: count.errors > 0 ? 'danger' : 'warning', spoken: countWords(count) ?? '' },
        ]),
      ),
    [counts],
  );
  const cardOf = useCallback((nodeId: string) => cards.get(nodeId) ?? NOTHING, [cards]);
  return { checked, cardOf };
}

/** The read-only graph, its mistakes and the selected node. */
export function GraphTab({ workflow }: { workflow: Workflow }) {
  const { id, graph } = workflow;
  const [selected, setSelected] = useState<string>();
  const { checked, cardOf } = useMistakeCards(workflow);
  const mayEdit = useMay('create_edit_workflows');
  if (graph.nodes.length === 0) {
    return (
      <Empty {...text.empty}>
        {mayEdit && (
          <TextLink to="/workflows/$workflowId/edit" params={{ workflowId: id }}>
            {text.empty.openEditor}
          </TextLink>
        )}
      </Empty>
    );
  }
  const node = selected === undefined ? undefined : nodeOf(graph, selected);
  return (
    <Stack gap="md">
      {checked.mistakes?.some(({ severity }) => severity === 'error') === true && (
        <Alert color="danger" title={text.fixToRun}>
          <MistakeList checked={checked} onChoose={({ nodeId }) => setSelected(nodeId)} />
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
            <Section title={words.node}>
              <JsonView value={node} what={text.theNode} />
            </Section>
          </Box>
        )}
      </Group>
      {node === undefined && <Dimmed>{text.selectNode}</Dimmed>}
    </Stack>
  );
}

const NOTHING = {};
