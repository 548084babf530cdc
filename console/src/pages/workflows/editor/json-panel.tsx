import { Text } from '@mantine/core';
import type { Graph } from '#client/index.ts';
import { jsonPanel as text } from '#console/src/messages/en/workflows/editor.ts';
import type { DraftAction } from './draft.ts';
import { JsonField } from '#console/src/parts/forms/json-field.tsx';
import type { Judge } from '#console/src/parts/forms/json-text.ts';
import { isRecord } from '#console/src/parts/data/record.ts';

/** Consecutive changes in the JSON are one undo step in the drawing; the text has its own undo. */
const TYPING = 'json';

/** Only checks for the lists that a drawing needs. */
export const aGraph: Judge = (value) =>
  isRecord(value) && Array.isArray(value['nodes']) && Array.isArray(value['edges'])
    ? undefined
    : text.notAGraph;

/** The graph as JSON. Changes on either side are applied to the other. */
export function JsonPanel({
  graph,
  change,
}: {
  graph: Graph;
  change: (action: DraftAction) => void;
}) {
  return (
    <>
      <JsonField
        label={text.label}
        value={graph}
        judge={aGraph}
        minHeight={320}
        maxHeight={560}
        onChange={(value) => change({ type: 'replace', graph: value as Graph, touched: TYPING })}
      />
      <Text size="xs" c="dimmed" mt="xs">
        {text.about}
      </Text>
    </>
  );
}
