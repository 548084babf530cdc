import { Table, type TableTrProps, VisuallyHidden } from '@mantine/core';
import { Children, isValidElement, type ReactNode } from 'react';

/** A column heading: a text, one for numbers, or one for screen readers only. */
export type Column = string | { label: string; numbers?: true; hidden?: true };

/** A table that scrolls horizontally if the window is too narrow. */
export function RowTable({
  label,
  columns,
  minWidth = 720,
  children,
}: {
  /** What the table lists, for screen readers. */
  label: string;
  columns: readonly Column[];
  minWidth?: number;
  children: ReactNode;
}) {
  return (
    <Table.ScrollContainer
      minWidth={minWidth}
      type="native"
      // Contains the positioned text for screen readers, which would otherwise widen the page.
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

/** A row whose children are its cells. A cell with attributes, or one that can be empty, is a `Table.Td`. */
export function Row({ children, ...row }: TableTrProps) {
  const cells = Children.map(children, (cell) =>
    cell === null || (isValidElement(cell) && cell.type === Table.Td) ? (
      cell
    ) : (
      <Table.Td>{cell}</Table.Td>
    ),
  );
  return <Table.Tr {...row}>{cells}</Table.Tr>;
}
