import { Menu, UnstyledButton } from '@mantine/core';
import {
  IconClipboard,
  IconCopy,
  IconCopyPlus,
  IconPlayerPlay,
  IconPlus,
  IconSelectAll,
  IconTrash,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { PortId } from '#console/src/graph/ports.ts';
import { words } from '#console/src/messages/en/words.ts';
import { canvasMenu as text } from '#console/src/messages/en/workflows/canvas.ts';

/** Where the menu opened, in pixels of the window, and what it is for. */
export interface MenuAt {
  x: number;
  y: number;
  for: 'nodes' | 'edge' | 'pane';
}

interface Entry {
  label: string;
  icon: ReactNode;
  keys?: string;
  act: () => void;
  dangerous?: boolean;
  disabled?: boolean;
}

export interface MenuActions {
  add: () => void;
  /** The ports of the selected node, and adds a node to one. */
  ports: readonly { id: PortId; name: string }[];
  addFrom: (port: PortId) => void;
  insert: () => void;
  /** Undefined unless one node is selected, which the member may test. */
  test: (() => void) | undefined;
  copy: () => void;
  paste: () => void;
  duplicate: () => void;
  selectAll: () => void;
  remove: () => void;
  canPaste: boolean;
}

/** The context menu of the drawing. The menu key also opens it. */
export function CanvasMenu({
  at,
  actions,
  onClose,
}: {
  at: MenuAt | undefined;
  actions: MenuActions;
  onClose: () => void;
}) {
  if (at === undefined) return null;
  return (
    <Menu
      opened
      onClose={onClose}
      position="bottom-start"
      offset={2}
      width={240}
      withinPortal={false}
    >
      <Menu.Target>
        <UnstyledButton aria-label={text.target} pos="fixed" left={at.x} top={at.y} w={1} h={1} />
      </Menu.Target>
      <Menu.Dropdown aria-label={words.actions}>
        {entriesFor(at.for, actions).map((entry) => (
          <Menu.Item
            key={entry.label}
            leftSection={entry.icon}
            rightSection={entry.keys}
            disabled={entry.disabled === true}
            {...(entry.dangerous === true && { c: 'var(--mantine-color-error)' })}
            onClick={entry.act}
          >
            {entry.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function entriesFor(target: MenuAt['for'], actions: MenuActions): Entry[] {
  const add = { icon: <IconPlus size={16} aria-hidden />, keys: text.keys.add, act: actions.add };
  const paste: Entry = {
    label: text.paste,
    icon: <IconClipboard size={16} aria-hidden />,
    keys: text.keys.paste,
    act: actions.paste,
    disabled: !actions.canPaste,
  };
  const remove = {
    icon: <IconTrash size={16} aria-hidden />,
    keys: text.keys.delete,
    dangerous: true,
    act: actions.remove,
  };
  switch (target) {
    case 'nodes':
      return [
        ...(actions.ports.length < 2
          ? [{ label: text.addNodeAfter, ...add }]
          : actions.ports.map(({ id, name }) => ({
              label: text.addNodeFrom(name),
              icon: add.icon,
              act: () => actions.addFrom(id),
            }))),
        ...(actions.test === undefined
          ? []
          : [
              {
                ...{ label: text.test, keys: text.keys.test, act: actions.test },
                icon: <IconPlayerPlay size={16} aria-hidden />,
              },
            ]),
        copyEntry(actions),
        paste,
        duplicateEntry(actions),
        { label: words.delete, ...remove },
      ];
    case 'edge':
      return [
        { label: text.insertNode, icon: add.icon, act: actions.insert },
        { label: text.deleteEdge, ...remove },
      ];
    case 'pane':
      return [{ label: text.addNode, ...add }, paste, selectAllEntry(actions)];
  }
}

const copyEntry = ({ copy }: MenuActions): Entry => ({
  label: words.copy,
  icon: <IconCopy size={16} aria-hidden />,
  keys: text.keys.copy,
  act: copy,
});

const duplicateEntry = ({ duplicate }: MenuActions): Entry => ({
  label: text.duplicate,
  icon: <IconCopyPlus size={16} aria-hidden />,
  keys: text.keys.duplicate,
  act: duplicate,
});

const selectAllEntry = ({ selectAll }: MenuActions): Entry => ({
  label: text.selectAll,
  icon: <IconSelectAll size={16} aria-hidden />,
  keys: text.keys.selectAll,
  act: selectAll,
});
