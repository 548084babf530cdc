import { Badge, Button, Group, Menu } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconDeviceFloppy,
  IconPlus,
  IconSitemap,
} from '@tabler/icons-react';
import { useState } from 'react';
import type { NodeKind } from '../../../../../shared/contract/graph.ts';
import type { Drawing } from '../../../graph/drawn.ts';
import { nodeKinds } from '../../../../../shared/graph/kinds.ts';
import { layOut, type Places } from '../../../graph/layout.ts';
import { kindIcons, kindNames } from '../../../graph/node-card.tsx';
import { UserText } from '../../../parts/text/user-text.tsx';
import { type Draft, type DraftAction, freeId } from './draft.ts';
import { besides } from './use-draft-places.ts';
import type { Saving } from '../publishing/use-saving.tsx';

/** Actions on the drawing as a whole. */
export function EditorToolbar({
  draft,
  drawing,
  places,
  selected,
  change,
  onAdded,
  saving,
}: {
  draft: Draft;
  drawing: Drawing;
  places: Places | undefined;
  /** The only selected node; a new node is placed after it. */
  selected: string | undefined;
  change: (action: DraftAction) => void;
  onAdded: (id: string) => void;
  saving: Saving;
}) {
  const add = (kind: NodeKind): void => {
    const id = freeId(draft.graph, kind);
    // If all nodes have a fixed position, a new one needs one too; otherwise the graph would be laid out again.
    const placed = drawing.nodes.every(({ position }) => position !== undefined);
    const position = placed ? besides(places ?? new Map(), selected) : undefined;
    change({ type: 'add', id, kind, position, ...(selected !== undefined && { after: selected }) });
    onAdded(id);
  };
  return (
    <Group gap="xs" role="toolbar" aria-label="Editing">
      <AddMenu selected={drawing.nodes.find(({ id }) => id === selected)?.label} onAdd={add} />
      <Button
        variant="default"
        leftSection={<IconArrowBackUp size={16} aria-hidden />}
        disabled={draft.past.length === 0}
        onClick={() => change({ type: 'undo' })}
      >
        Undo
      </Button>
      <Button
        variant="default"
        leftSection={<IconArrowForwardUp size={16} aria-hidden />}
        disabled={draft.future.length === 0}
        onClick={() => change({ type: 'redo' })}
      >
        Redo
      </Button>
      <LayOutButton drawing={drawing} change={change} />
      <Button
        leftSection={<IconDeviceFloppy size={16} aria-hidden />}
        disabled={!saving.unsaved}
        loading={saving.pending}
        onClick={saving.save}
      >
        Save
      </Button>
      <SavingState saving={saving} />
    </Group>
  );
}

function SavingState({ saving }: { saving: Saving }) {
  return (
    <Badge
      role="status"
      variant="light"
      c="bright"
      tt="none"
      color={saving.unsaved ? 'yellow' : 'gray'}
    >
      {saving.unsaved ? 'Unsaved changes' : 'Saved'}
    </Badge>
  );
}

function AddMenu({
  selected,
  onAdd,
}: {
  selected: string | undefined;
  onAdd: (kind: NodeKind) => void;
}) {
  return (
    <Menu position="bottom-start" width={220} returnFocus={false}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconPlus size={16} aria-hidden />}>
          Add node
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {selected !== undefined && (
          <Menu.Label>
            Connects after <UserText>{selected}</UserText>
          </Menu.Label>
        )}
        {nodeKinds.map((kind) => {
          const KindIcon = kindIcons[kind];
          return (
            <Menu.Item
              key={kind}
              leftSection={<KindIcon size={16} aria-hidden />}
              onClick={() => onAdd(kind)}
            >
              {kindNames[kind]}
            </Menu.Item>
          );
        })}
      </Menu.Dropdown>
    </Menu>
  );
}

const LAYOUT_WITHIN_MS = 30_000;

function LayOutButton({
  drawing,
  change,
}: {
  drawing: Drawing;
  change: (action: DraftAction) => void;
}) {
  const [busy, setBusy] = useState(false);
  const layOutAll = async (): Promise<void> => {
    setBusy(true);
    try {
      const places = await layOut(drawing, AbortSignal.timeout(LAYOUT_WITHIN_MS));
      change({ type: 'place', places });
    } catch {
      // The drawing visibly stays unchanged.
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      variant="default"
      leftSection={<IconSitemap size={16} aria-hidden />}
      loading={busy}
      disabled={drawing.nodes.length === 0}
      onClick={() => void layOutAll()}
    >
      Auto-layout
    </Button>
  );
}
