import { Box, CloseButton, Group, Paper, Text, TextInput } from '@mantine/core';
import {
  type DragEvent,
  type KeyboardEvent,
  type ReactNode,
  useId,
  useMemo,
  useState,
} from 'react';
import type { NodeKind } from '#shared/contract/workflows/graph.ts';
import { nodeKinds } from '#shared/graph/kinds.ts';
import { kindColour, kindIcons } from '#console/src/graph/kinds.ts';
import { kindNames } from '#console/src/messages/en/graph.ts';
import { kindAbout, palette as texts } from '#console/src/messages/en/workflows/canvas.ts';
import type { Place } from '#console/src/graph/places.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';

/** What the palette adds: a node of a kind and, for a tool, its name. */
export interface PaletteItem {
  kind: NodeKind;
  tool?: string;
}

/** The type of a dragged item in the data of a drag. */
const DRAGGED = 'application/x-workflow-node';
const MOST_SHOWN = 60;

/** Adds nodes: type to filter, press Enter to add the highlighted one, or drag one into the drawing. */
export function Palette({
  tools,
  about,
  ports,
  at,
  onPick,
  onClose,
}: {
  tools: readonly string[];
  /** Where the new node goes. */
  about: string | undefined;
  /** A choice of the port that it is connected to. */
  ports: ReactNode;
  /** Where it opens, in pixels of the drawing, if there is room; by default in its corner. */
  at: Place | undefined;
  onPick: (item: PaletteItem) => void;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const [marked, setMarked] = useState(0);
  const list = useId();
  const items = useMemo(() => itemsFor(typed, tools), [typed, tools]);
  const move = (step: number): void => {
    if (items.length === 0) return;
    const next = (marked + step + items.length) % items.length;
    setMarked(next);
    document.getElementById(`${list}-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  const pick = (): void => {
    const item = items[marked];
    if (item !== undefined) onPick(item);
  };
  const keys: Record<string, () => void> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: pick,
    Escape: onClose,
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const act = keys[event.key];
    // The close button and the choice of a port handle their keys themselves.
    const isField = event.target instanceof HTMLInputElement || event.key === 'Escape';
    if (act === undefined || !isField) return;
    event.preventDefault();
    act();
  };
  return (
    <Paper
      className="editor-palette nokey"
      style={at && { '--palette-left': `${at.x + 12}px`, '--palette-top': `${at.y - 24}px` }}
      withBorder
      shadow="md"
      p="xs"
      role="dialog"
      aria-label={texts.title}
      onKeyDown={onKeyDown}
    >
      <Group gap="xs" wrap="nowrap" mb={6}>
        <TextInput
          flex={1}
          size="sm"
          aria-label={texts.nodeToAdd}
          placeholder={texts.filter}
          role="combobox"
          aria-expanded
          aria-autocomplete="list"
          aria-controls={list}
          aria-activedescendant={items.length === 0 ? undefined : `${list}-${marked}`}
          autoFocus
          value={typed}
          onChange={(event) => {
            setTyped(event.currentTarget.value);
            setMarked(0);
          }}
        />
        <CloseButton aria-label={texts.close} onClick={onClose} />
      </Group>
      {about !== undefined && (
        <Text size="xs" c="dimmed" mb={4} style={{ overflowWrap: 'anywhere', flex: 'none' }}>
          <UserText>{about}</UserText>
        </Text>
      )}
      {ports}
      <Box
        component="ul"
        id={list}
        role="listbox"
        aria-label={texts.nodes}
        className="editor-palette-list"
        m={0}
        p={0}
      >
        {items.map((item, at) => {
          const KindIcon = kindIcons[item.kind];
          return (
            <li
              key={`${item.kind} ${item.tool ?? ''}`}
              id={`${list}-${at}`}
              role="option"
              aria-selected={at === marked}
              data-marked={at === marked || undefined}
              className="editor-palette-item"
              draggable
              onDragStart={(event) => {
                event.dataTransfer.setData(DRAGGED, JSON.stringify(item));
                event.dataTransfer.effectAllowed = 'copy';
              }}
              onClick={() => onPick(item)}
            >
              <KindIcon size={18} stroke={1.6} color={kindColour(item.kind)} aria-hidden />
              <Box miw={0}>
                <Text size="sm" fw={500} truncate>
                  {item.tool === undefined ? (
                    kindNames[item.kind]
                  ) : (
                    <UserText>{item.tool}</UserText>
                  )}
                </Text>
                <Text size="xs" c="dimmed" truncate>
                  {item.tool === undefined ? kindAbout[item.kind] : kindNames.tool}
                </Text>
              </Box>
            </li>
          );
        })}
        {items.length === 0 && (
          <Text component="li" role="option" aria-disabled aria-selected={false} size="sm" p={6}>
            {texts.nothingFound}
          </Text>
        )}
      </Box>
    </Paper>
  );
}

/** The items that match the text; names that begin with it come first. */
function itemsFor(typed: string, tools: readonly string[]): PaletteItem[] {
  const wanted = typed.trim().toLowerCase();
  const all: { item: PaletteItem; name: string; about: string }[] = [
    ...nodeKinds.map((kind) => ({ item: { kind }, name: kindNames[kind], about: kindAbout[kind] })),
    ...tools.map((tool) => ({ item: { kind: 'tool' as const, tool }, name: tool, about: '' })),
  ];
  const rankOf = (name: string, about: string): number => {
    const at = name.toLowerCase().indexOf(wanted);
    if (at === 0) return 0;
    if (at > 0) return 1;
    return about.toLowerCase().includes(wanted) ? 2 : 3;
  };
  return all
    .map(({ item, name, about }) => ({ item, rank: rankOf(name, about) }))
    .filter(({ rank }) => rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .slice(0, MOST_SHOWN)
    .map(({ item }) => item);
}

/** The item that is dragged from the palette; undefined for other drags. */
export function droppedItem({ dataTransfer }: DragEvent): PaletteItem | undefined {
  const text = dataTransfer.getData(DRAGGED);
  if (text === '') return undefined;
  return JSON.parse(text) as PaletteItem;
}

/** Whether an item of the palette is dragged. Its content can only be read when it is dropped. */
export const isItemDrag = ({ dataTransfer }: DragEvent): boolean =>
  dataTransfer.types.includes(DRAGGED);
