import { Tabs } from '@mantine/core';
import { useCallback } from 'react';
import type { Drawing } from '#console/src/graph/drawn.ts';
import { words } from '#console/src/messages/en/words.ts';
import { editorPanels as text } from '#console/src/messages/en/workflows/editor.ts';
import { countText } from '#console/src/parts/text/numbers.ts';
import { InputPanel } from '#console/src/pages/workflows/input-panel.tsx';
import { MistakeList } from '#console/src/pages/workflows/mistakes/mistake-list.tsx';
import { isRunnable, type Mistake } from '#console/src/pages/workflows/mistakes/mistakes.ts';
import { ScopeContext } from './authoring/scope.ts';
import { useNodeScope } from './authoring/use-node-scope.ts';
import { shownItem, useChangedState } from './authoring/use-values-run.ts';
import { nodeOf } from './draft.ts';
import type { Selection } from './selection.ts';
import { JsonPanel } from './json-panel.tsx';
import { fieldAt } from './node-fields.ts';
import { NodePanel } from './node-panel/node-panel.tsx';
import { RunPanel } from './run/run-panel.tsx';
import { SelectionPanel } from './selection-panel.tsx';
import type { EditorState } from './use-editor.ts';

const NO_MISTAKES: readonly Mistake[] = [];

/** The panels next to the drawing. */
export function EditorPanels({ state }: { state: EditorState }) {
  const { panel, setPanel, checked, graph, inputSchema, setInputSchema, change } = state;
  const { draftRun, choose, drawing } = state;
  const chooseNode = useCallback((id: string) => choose({ nodes: [id], edges: [] }), [choose]);
  return (
    <Tabs value={panel} onChange={setPanel} keepMounted={false}>
      <Tabs.List className="editor-tabs">
        <Tabs.Tab value="chosen">{text.selection}</Tabs.Tab>
        <Tabs.Tab value="run">{words.run}</Tabs.Tab>
        <Tabs.Tab value="mistakes">{tabWords(checked.mistakes)}</Tabs.Tab>
        <Tabs.Tab value="input">{text.schema}</Tabs.Tab>
        <Tabs.Tab value="json">{text.json}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="chosen">
        <ChosenPanel state={state} />
      </Tabs.Panel>
      <Tabs.Panel value="run">
        <RunPanel
          draftRun={draftRun}
          runnable={isRunnable(checked.mistakes)}
          onChoose={chooseNode}
        />
      </Tabs.Panel>
      <Tabs.Panel value="mistakes">
        <MistakeList
          checked={checked}
          fixable={{ graph, onFix: (fixed) => change({ type: 'replace', graph: fixed }) }}
          onChoose={(mistake) => {
            const target = targetOf(mistake, drawing);
            if (target === undefined) setPanel('json');
            else choose(target.selection, target.field);
          }}
        />
      </Tabs.Panel>
      <Tabs.Panel value="input">
        <InputPanel graph={graph} schema={inputSchema} onChange={setInputSchema} />
      </Tabs.Panel>
      <Tabs.Panel value="json">
        <JsonPanel graph={graph} change={change} />
      </Tabs.Panel>
    </Tabs>
  );
}

function ChosenPanel({ state }: { state: EditorState }) {
  const { graph, inputSchema, drawing, selection, focused } = state;
  const { mistakes, tools } = state.checked;
  const { change, choose, values } = state;
  const nodeId = selection.nodes.length === 1 ? selection.nodes[0] : undefined;
  const item = shownItem(values, nodeId ?? '');
  const changes = useChangedState(values, nodeId ?? '', item);
  const scope = useNodeScope(graph, inputSchema, {
    nodeId: nodeId ?? '',
    run: values.run,
    stepKey: item?.step_key,
    changed: changes.changed,
  });
  const node = nodeId === undefined ? undefined : nodeOf(graph, nodeId);
  return (
    <ScopeContext value={scope}>
      <SelectionPanel
        graph={graph}
        drawing={drawing}
        selection={selection}
        mistakes={mistakes ?? NO_MISTAKES}
        tools={tools}
        focused={focused}
        around={(settings) =>
          node !== undefined &&
          nodeId !== undefined && (
            <NodePanel {...{ state, node, nodeId, item, changes, settings }} />
          )
        }
        change={change}
        onChoose={choose}
      />
    </ScopeContext>
  );
}

const tabWords = (mistakes: readonly Mistake[] | undefined): string =>
  mistakes === undefined || mistakes.length === 0
    ? text.check
    : text.checkWithMistakes(countText(mistakes.length));

/** The displayed node or edge of a mistake; undefined if it is not displayed. */
function targetOf(
  { nodeId, edge: at, path }: Mistake,
  { nodes, edges }: Drawing,
): { selection: Selection; field: string | undefined } | undefined {
  const edge = edges.find((each) => each.at === at);
  if (edge !== undefined) return { selection: { nodes: [], edges: [edge.id] }, field: 'edges' };
  const node = nodes.find(({ id }) => id === nodeId);
  if (node === undefined) return undefined;
  return { selection: { nodes: [node.id], edges: [] }, field: fieldAt(path, node.kind) ?? 'id' };
}
