import { ActionIcon, Badge, Box, Button, Group, Tooltip } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconDeviceFloppy,
  IconPlayerPlay,
  IconPlus,
  IconSearch,
  IconSitemap,
} from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { layOut } from '#console/src/graph/layout.ts';
import { words } from '#console/src/messages/en/words.ts';
import { editorToolbar as text } from '#console/src/messages/en/workflows/editor.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { BlockableButton } from '#console/src/pages/workflows/mistakes/blockable-button.tsx';
import { isRunnable, runErrors } from '#console/src/pages/workflows/mistakes/mistakes.ts';
import type { Saving } from '#console/src/pages/workflows/publishing/use-saving.tsx';
import { RunDraft } from './run/run-form.tsx';
import { useRunKey } from './run/use-run-key.ts';
import type { EditorState } from './use-editor.ts';

/** Actions on the draft as a whole. */
export function EditorToolbar({ state }: { state: EditorState }) {
  const { draft, drawing, change, saving, setFinding } = state;
  return (
    <Group gap="xs" role="toolbar" aria-label={text.title}>
      <AddButton state={state} />
      <IconAction
        label={text.undo}
        keys={text.keys.undo}
        disabled={draft.past.length === 0}
        onClick={() => change({ type: 'undo' })}
      >
        <IconArrowBackUp size={18} />
      </IconAction>
      <IconAction
        label={text.redo}
        keys={text.keys.redo}
        disabled={draft.future.length === 0}
        onClick={() => change({ type: 'redo' })}
      >
        <IconArrowForwardUp size={18} />
      </IconAction>
      <LayOutButton state={state} />
      <IconAction
        label={text.find}
        keys={text.keys.find}
        disabled={drawing.nodes.length === 0}
        onClick={() => setFinding(true)}
      >
        <IconSearch size={18} />
      </IconAction>
      <SavingState saving={saving} />
      <Tooltip label={text.keys.save} withinPortal={false}>
        <Button
          variant="default"
          leftSection={<IconDeviceFloppy size={16} aria-hidden />}
          disabled={!saving.unsaved}
          loading={saving.pending}
          onClick={saving.save}
        >
          {text.save}
        </Button>
      </Tooltip>
      <RunButton state={state} />
    </Group>
  );
}

function IconAction({
  label,
  keys,
  children,
  ...action
}: {
  label: string;
  /** The keys that do the same. */
  keys?: string;
  disabled?: boolean;
  loading?: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <Tooltip label={keys === undefined ? label : `${label} · ${keys}`} withinPortal={false}>
      <ActionIcon variant="default" size={36} aria-label={label} {...action}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

/** Runs the content of the editor, and shows the run next to the drawing. */
function RunButton({ state }: { state: EditorState }) {
  const { draftRun, saving, content, checked, setPanel } = state;
  const [asking, { open, close }] = useDisclosure(false);
  const mayRun = useMay('run_workflows');
  const ready = mayRun && !saving.pending && !draftRun.start.isPending;
  const ask = (): void => {
    draftRun.start.reset();
    open();
  };
  const showMistakes = (): void => setPanel('mistakes');
  // The key can come before the check of the last change.
  const askIfRunnable = (): void => (isRunnable(checked.checkNow()) ? ask() : showMistakes());
  useRunKey(askIfRunnable, { ready: ready && !asking, inDialog: false });
  if (!mayRun) return null;
  return (
    <>
      <BlockableButton
        reason={runErrors(checked.mistakes)[0]?.message}
        onBlocked={showMistakes}
        leftSection={<IconPlayerPlay size={16} aria-hidden />}
        disabled={saving.pending}
        loading={draftRun.start.isPending}
        onClick={ask}
      >
        {words.run}
      </BlockableButton>
      <RunDraft
        content={content}
        checked={checked}
        draftRun={draftRun}
        saving={saving}
        opened={asking}
        onClose={close}
        onStarted={() => setPanel('run')}
      />
    </>
  );
}

function SavingState({ saving }: { saving: Saving }) {
  return (
    // As wide as the longer text, so that the buttons stay in place.
    <Box role="status" miw={134} ta="center">
      <Badge variant="light" c="bright" tt="none" color={saving.unsaved ? 'warning' : 'gray'}>
        {saving.unsaved ? text.unsaved : text.saved}
      </Badge>
    </Box>
  );
}

function AddButton({ state: { adding, setAdding, selection } }: { state: EditorState }) {
  const after = selection.nodes.length === 1 ? selection.nodes[0] : undefined;
  return (
    <Tooltip label={text.addNodeKey} withinPortal={false}>
      <Button
        variant="default"
        leftSection={<IconPlus size={16} aria-hidden />}
        aria-expanded={adding !== undefined}
        onClick={() => setAdding(adding === undefined ? { after } : undefined)}
      >
        {text.addNode}
      </Button>
    </Tooltip>
  );
}

const LAYOUT_WITHIN_MS = 30_000;

function LayOutButton({ state: { drawing, change, setView } }: { state: EditorState }) {
  const [busy, setBusy] = useState(false);
  const layOutAll = async (): Promise<void> => {
    setBusy(true);
    try {
      const places = await layOut(drawing, AbortSignal.timeout(LAYOUT_WITHIN_MS));
      change({ type: 'place', places });
      setView({ type: 'all' });
    } catch {
      // The drawing visibly stays unchanged.
    } finally {
      setBusy(false);
    }
  };
  return (
    <IconAction
      label={text.layOut}
      loading={busy}
      disabled={drawing.nodes.length === 0}
      onClick={() => void layOutAll()}
    >
      <IconSitemap size={18} />
    </IconAction>
  );
}
