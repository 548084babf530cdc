import { Select, Text } from '@mantine/core';
import { useEffect, useMemo, useRef } from 'react';
import { graphView as text } from '#console/src/messages/en/graph.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import type { DrawnNode } from './drawn.ts';
import { linesOf } from './node-lines.ts';

interface FindNodeProps {
  nodes: readonly DrawnNode[];
  selected: string | undefined;
  onSelect: (nodeId: string | undefined) => void;
  /** Takes the focus at once, for a search that was opened by a key. */
  autoFocus?: boolean;
  /** Called when the search is left. */
  onClose?: () => void;
}

/** Finds a node by its label, its id or what it does. Ctrl+F leads here, and from here to the search of the browser. */
export function FindNode({ nodes, selected, onSelect, autoFocus = false, onClose }: FindNodeProps) {
  const field = useRef<HTMLInputElement>(null);
  useFindKey(() => field.current?.focus());
  const found = useMemo(
    () => new Map(nodes.map((node) => [node.id, { node, lines: linesOf(node) }])),
    [nodes],
  );
  const matches = (id: string, wanted: string): boolean => {
    const { node, lines } = found.get(id) ?? {};
    return [id, node?.label, lines?.title].some((each) => each?.toLowerCase().includes(wanted));
  };
  return (
    <Select
      ref={field}
      className="graph-find nokey"
      size="xs"
      searchable
      clearable={onClose === undefined}
      autoFocus={autoFocus}
      openOnFocus
      selectFirstOptionOnChange
      limit={50}
      aria-label={text.find}
      placeholder={text.find}
      nothingFoundMessage={text.nothingFound}
      data={nodes.map(({ id, label }) => ({ value: id, label }))}
      filter={({ options, search }) => {
        const wanted = search.trim().toLowerCase();
        // The name of the selected node is a value and no search.
        if (selected !== undefined && search === found.get(selected)?.node.label) return options;
        return options.filter((each) => 'value' in each && matches(each.value, wanted));
      }}
      renderOption={({ option: { value, label } }) => (
        <div style={{ minWidth: 0 }}>
          <Text size="sm" fw={500} truncate>
            <UserText>{label}</UserText>
          </Text>
          <Text size="xs" truncate>
            <UserText>{found.get(value)?.lines.does}</UserText>
          </Text>
        </div>
      )}
      comboboxProps={{ withinPortal: false, width: 320, position: 'bottom-end' }}
      value={onClose === undefined ? (selected ?? null) : null}
      onChange={(nodeId) => onSelect(nodeId ?? undefined)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose?.();
      }}
      onBlur={onClose}
    />
  );
}

/** Ctrl+F, or Cmd+F. In the search itself and in fields, the browser searches. */
export function useFindKey(open: () => void): void {
  const current = useRef(open);
  useEffect(() => {
    current.current = open;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      const isField =
        event.target instanceof Element &&
        event.target.closest('input, textarea, [contenteditable="true"], [role="dialog"]') !== null;
      if (event.key.toLowerCase() !== 'f' || isField) return;
      event.preventDefault();
      current.current();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}
