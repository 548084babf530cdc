import { Table, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';

/** Heads of columns: a text, one that stands over numbers, or one that only those hear who cannot see what is below. */
export type Column = string | { label: string; numbers?: true; hidden?: true };

/** A table that scrolls within itself where the window is too narrow for it. */
export function RowTable({
  label,
  columns,
  minWidth = 720,
  children,
}: {
  /** What the table lists, for those who hear it. */
  label: string;
  columns: readonly Column[];
  minWidth?: number;
  children: ReactNode;
}) {
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      type="native"
      // This box positions text for screen readers; positioned by the page, it would widen the page.
      pos="relative"
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      <Table aria-label={label} verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {columns.map((column) => {
              const { label: head, ...look } =
                typeof column === 'string' ? { label: column } : column;
              return (
                <Table.Th key={head} scope="col" className={'numbers' in look ? 'numbers' : ''}>
                  {'hidden' in look ? <VisuallyHidden>{head}</VisuallyHidden> : head}
                </Table.Th>
              );
            })}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
