import type { TreeRow } from '#console/src/parts/data/tree-keys.ts';

/** One line of a JSON tree. */
export interface JsonRow extends TreeRow {
  /** In the syntax of expressions: `order.items[2]["unit price"]`; empty for the value itself. */
  path: string;
  /** Its name or index; undefined for the value itself. */
  name: string | undefined;
  value: unknown;
  /** Number of values in a list or object. */
  size: number | undefined;
}

/** The maximum number of lines. The search finds the rest. */
export const MOST_ROWS = 10_000;
/** Up to this many values, everything is initially open. */
const FEW = 60;

type Container = Record<string, unknown> | readonly unknown[];

export const isContainer = (value: unknown): value is Container =>
  typeof value === 'object' && value !== null;

const entriesOf = (value: Container): [string, unknown][] =>
  Array.isArray(value)
    ? value.map((each: unknown, index) => [String(index), each])
    : Object.entries(value);

const NAME = /^[A-Za-z_]\w*$/;

/** The path of a member of a value, like `body.items[0]`. */
export function pathOf(parent: string, name: string, inList: boolean): string {
  if (inList) return `${parent}[${name}]`;
  if (!NAME.test(name)) return `${parent}[${JSON.stringify(name)}]`;
  return parent === '' ? name : `${parent}.${name}`;
}

/** A path of keys and indexes, like `body.items[0]`. */
export const pathText = (path: readonly (string | number)[]): string =>
  path.reduce<string>((all, part) => pathOf(all, String(part), typeof part === 'number'), '');

/** Whether a value contains only a few values, at any depth. Stops counting above the limit. */
export function isSmall(value: unknown): boolean {
  let count = 0;
  const visit = (each: unknown): boolean => {
    count += 1;
    if (count > FEW) return false;
    return !isContainer(each) || entriesOf(each).every(([, inner]) => visit(inner));
  };
  return visit(value);
}

/**
 * The lines of a value. With a search, those whose name or value contains the text, within their parent lines. `open`
 * says whether a path is open otherwise.
 */
export function jsonRows(
  value: unknown,
  { search, open }: { search: string; open: (path: string, level: number) => boolean },
): JsonRow[] {
  const wanted = search.trim().toLowerCase();
  const walk = (row: Omit<JsonRow, 'open' | 'size'>, budget: number): JsonRow[] => {
    const { value: own, path, name, level } = row;
    const says = wanted === '' || found(name, own, wanted);
    if (!isContainer(own)) {
      return says && budget > 0 ? [{ ...row, open: undefined, size: undefined }] : [];
    }
    const entries = entriesOf(own);
    const isOpen = entries.length > 0 && (wanted === '' ? open(path, level) : true);
    const rows: JsonRow[] = [];
    if (isOpen) {
      for (const [key, inner] of entries) {
        const room = budget - rows.length - 1;
        if (room <= 0) break;
        const place = pathOf(path, key, Array.isArray(own));
        rows.push(...walk({ path: place, name: key, value: inner, level: level + 1 }, room));
      }
    }
    if (!says && rows.length === 0) return [];
    const shown = rows.length > 0 ? true : entries.length === 0 ? undefined : isOpen;
    return [{ ...row, size: entries.length, open: shown }, ...rows];
  };
  return walk({ path: '', name: undefined, value, level: 1 }, MOST_ROWS);
}

const found = (name: string | undefined, value: unknown, wanted: string): boolean =>
  name?.toLowerCase().includes(wanted) === true ||
  (!isContainer(value) && String(value).toLowerCase().includes(wanted));
