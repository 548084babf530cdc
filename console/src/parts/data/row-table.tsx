import './row-table.css';
import { Table, type TableTdProps, type TableTrProps, VisuallyHidden } from '@mantine/core';
import { Children, cloneElement, createContext, isValidElement, type ReactNode, use } from 'react';

/** A column heading: a text, one for numbers, or one for screen readers only. */
export type Column = string | { label: string; numbers?: true; hidden?: true };

/** The names of the columns, for the cells of a row. */
const Columns = createContext<readonly string[]>([]);

const nameOf = (column: Column): string => (typeof column === 'string' ? column : column.label);

/** A table that scrolls horizontally if the window is too narrow. On a phone, its rows are cards. */
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
      className="row-table"
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
        <Table.Tbody>
          <Columns value={columns.map(nameOf)}>{children}</Columns>
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/**
 * A row whose children are its cells. A cell with attributes, or one that can be empty, is a `Table.Td`, and the name of
 * the row a `Table.Th`.
 */
export function Row({ children, ...row }: TableTrProps) {
  const columns = use(Columns);
  const cells = Children.toArray(children).map((cell, at) =>
    isValidElement<TableTdProps>(cell) && (cell.type === Table.Td || cell.type === Table.Th) ? (
      cloneElement(cell, { 'data-column': columns[at] } as TableTdProps)
    ) : (
      <Table.Td key={at} data-column={columns[at]}>
        {cell}
      </Table.Td>
    ),
  );
  return <Table.Tr {...row}>{cells}</Table.Tr>;
}
