import { nodePanel as text } from '#console/src/messages/en/workflows/editor.ts';
import { JsonTree } from '#console/src/parts/json/json-tree.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useScope } from '#console/src/pages/workflows/editor/authoring/scope.ts';

/** The state that the node starts with in the chosen run, whose values can be inserted into its fields. */
export function NodeInput({
  beside,
  onInsert,
}: {
  /** Whether the fields are beside it, so that values can be dragged there. */
  beside: boolean;
  onInsert: (path: string) => void;
}) {
  const { state, problem } = useScope();
  if (state === undefined) return <Dimmed>{problem ?? text.noState}</Dimmed>;
  return (
    <>
      <Dimmed size="xs" mb={4}>
        {beside ? text.insertOrDrag : text.insertAbout}
      </Dimmed>
      <JsonTree value={state} what={text.theState} onInsert={onInsert} />
    </>
  );
}
