import './editor.css';
import { Alert, Button, Group, Text, Title } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import type { Workflow, WorkflowDraft } from '#client/index.ts';
import { editorBench as text } from '#console/src/messages/en/workflows/editor.ts';
import { Message } from '#console/src/messages/message.tsx';
import { WorkflowLink } from '#console/src/parts/links.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { DraftBar } from '#console/src/pages/workflows/publishing/draft-bar.tsx';
import { isNodeStep } from '#console/src/pages/runs/steps/agent-steps.ts';
import { EditorDrawing } from './canvas/editor-drawing.tsx';
import { EditorPanes } from './editor-panes.tsx';
import { EditorPanels } from './editor-panels.tsx';
import { EditorToolbar } from './editor-toolbar.tsx';
import { RunFollower } from './run/run-panel.tsx';
import { type EditorState, useEditor } from './use-editor.ts';

/**
 * The editor of one workflow: the drawing and, next to it, the selection, the mistakes, the input, the JSON and the
 * run.
 */
export function EditorBench({
  workflow,
  saved,
  opening,
}: {
  workflow: Workflow;
  saved: WorkflowDraft | null;
  /** The node that is initially selected, and the run and step whose values it shows. */
  opening: Parameters<typeof useEditor>[2] & { publish?: string | undefined };
}) {
  const state = useEditor(workflow, saved, opening);
  const { saving, side } = state;
  useFailureSelected(state);
  useDocumentTitle(text.pageTitle(workflow.name));
  return (
    <div className="editor">
      {state.draftRun.run !== undefined && (
        <RunFollower key={state.draftRun.run.id} runId={state.draftRun.run.id} />
      )}
      <div className="editor-bar">
        <div className="editor-title">
          <Title order={1} size="h5" lineClamp={1}>
            <UserText>{text.title(workflow.name)}</UserText>
          </Title>
          <Text size="xs" c="dimmed" component="div">
            <WorkflowLink workflow={workflow.id}>{text.back}</WorkflowLink>
          </Text>
        </div>
        <EditorToolbar state={state} />
        <DraftBar
          workflow={workflow}
          draft={saved}
          content={state.content}
          checked={state.checked}
          saving={state.saving}
          opening={opening.publish !== undefined}
        />
      </div>
      <div className="editor-notices">
        {saving.conflict}
        <KeptNotice state={state} />
      </div>
      <EditorPanes
        drawing={<EditorDrawing state={state} workflowId={workflow.id} />}
        panels={
          // The drawing ignores its delete key for elements that have the focus here.
          <div className="editor-panels nokey" ref={side}>
            <EditorPanels state={state} />
          </div>
        }
      />
    </div>
  );
}

/** Offers the changes that were not saved when the editor closed. */
function KeptNotice({ state: { kept, takeKept } }: { state: EditorState }) {
  if (kept.offered === undefined) return null;
  return (
    <Alert role="status" title={text.kept.title}>
      <Group gap="sm" justify="space-between">
        <Text size="sm">
          <Message text={text.kept.about} values={{ ago: <When at={kept.offered.keptAt} ago /> }} />
        </Text>
        <Group gap="xs">
          <Button size="compact-sm" onClick={takeKept}>
            {text.kept.restore}
          </Button>
          <Button size="compact-sm" variant="default" onClick={kept.drop}>
            {text.kept.discard}
          </Button>
        </Group>
      </Group>
    </Alert>
  );
}

/** Selects the node that failed a run of this editor, unless the member is typing. */
function useFailureSelected({
  draftRun: { run, start },
  choose,
  side,
  drawing,
}: EditorState): void {
  const shown = useRef<string>(undefined);
  const started = run !== undefined && start.data?.id === run.id ? run : undefined;
  useEffect(() => {
    if (started?.status !== 'failed' || shown.current === started.id) return;
    shown.current = started.id;
    const failed = started.steps.find((step) => isNodeStep(step) && step.status === 'failed');
    if (failed === undefined || isTyping(side.current)) return;
    if (!drawing.nodes.some(({ id }) => id === failed.node_id)) return;
    choose({ nodes: [failed.node_id], edges: [] });
  }, [started, choose, side, drawing]);
}

const isTyping = (side: HTMLElement | null): boolean =>
  side?.contains(document.activeElement) === true &&
  document.activeElement?.matches('input, textarea, select, .cm-content') === true;
