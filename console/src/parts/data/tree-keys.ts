/** A row of a tree that is displayed as a list. */
export interface TreeRow {
  /** From 1. */
  level: number;
  /** Whether the rows inside it are shown; undefined for a row without any. */
  open: boolean | undefined;
}

/** The action of a key in a tree: moves to a row, or opens, closes or chooses the active one. */
export type TreeKey<Row> =
  | { to: number }
  | { open: boolean; row: Row }
  | { choose: Row }
  | 'close'
  | undefined;

/** The action of a key, as in the tree grid pattern of ARIA. `page` is the number of rows that are visible. */
export function treeKey<Row extends TreeRow>(
  key: string,
  rows: readonly Row[],
  at: number | undefined,
  page: number,
): TreeKey<Row> {
  const to = (row: number): TreeKey<Row> => ({ to: Math.min(Math.max(row, 0), rows.length - 1) });
  if (rows.length === 0) return undefined;
  const row = rows[at ?? -1];
  switch (key) {
    case 'ArrowDown':
      return to((at ?? -1) + 1);
    case 'ArrowUp':
      return to((at ?? rows.length) - 1);
    case 'PageDown':
      return to((at ?? 0) + page);
    case 'PageUp':
      return to((at ?? 0) - page);
    case 'Home':
      return to(0);
    case 'End':
      return to(rows.length - 1);
    case 'ArrowRight':
      return row && (row.open === false ? { open: true, row } : inward(rows, at ?? 0));
    case 'ArrowLeft':
      return row && (row.open === true ? { open: false, row } : outward(rows, at ?? 0));
    case 'Enter':
    case ' ':
      return row && { choose: row };
    case 'Escape':
      return 'close';
    default:
      return undefined;
  }
}

const inward = (rows: readonly TreeRow[], at: number): { to: number } | undefined =>
  rows[at]?.open === true ? { to: at + 1 } : undefined;

function outward(rows: readonly TreeRow[], at: number): { to: number } | undefined {
  const level = rows[at]?.level ?? 1;
  const parent = rows.slice(0, at).findLastIndex((row) => row.level < level);
  return parent === -1 ? undefined : { to: parent };
}
