import { Splitter, type SplitterProps } from '@mantine/core';
import { useLocalStorage, useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { nodePanel as text } from '#console/src/messages/en/workflows/editor.ts';

const SIZES: NonNullable<SplitterProps['sizes']> = [100, '400px'];

/**
 * The drawing, and beside it the panels, whose width can be changed and is stored in the browser. In a narrow window,
 * the panels are below the drawing.
 */
export function EditorPanes({ drawing, panels }: { drawing: ReactNode; panels: ReactNode }) {
  const wide = useMediaQuery('(min-width: 62em)', true, { getInitialValueInEffect: false });
  const [sizes, setSizes] = useLocalStorage<SplitterProps['sizes']>({
    key: 'workflows.editor-panes',
    defaultValue: SIZES,
    getInitialValueInEffect: false,
  });
  if (!wide) {
    return (
      <div className="editor-body">
        {drawing}
        {panels}
      </div>
    );
  }
  return (
    <Splitter
      className="editor-body"
      sizes={sizes}
      onSizeChange={setSizes}
      step="20px"
      shiftStep="80px"
      attributes={{ handle: { 'aria-label': text.width } }}
    >
      <Splitter.Pane className="editor-pane" defaultSize={100}>
        {drawing}
      </Splitter.Pane>
      <Splitter.Pane className="editor-pane" defaultSize="400px" min="340px" max="640px">
        {panels}
      </Splitter.Pane>
    </Splitter>
  );
}
