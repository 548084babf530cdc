import type { ListPosition, DataCursors } from '#shared/crypto/data-cursors.ts';
import type { Page, PageRequest, ReaderScope } from '#shared/db/data/lists.ts';

/** A parsed query for a list of the data API. */
export interface OpenPage<Filter> {
  filter: Filter;
  page: PageRequest;
  /** The cursor of the page that follows `end`. */
  next: (end: ListPosition | null) => string | null;
}

/**
 * Reads the cursor of a list and binds the next one to the same list: operation, organization, mode and filters. The
 * limit can change. Throws AppError `invalid` for a cursor of another list.
 */
export function openPage<Query extends { limit: number; cursor?: string | undefined }>(
  cursors: DataCursors,
  scope: ReaderScope,
  operation: string,
  query: Query,
): OpenPage<Omit<Query, 'limit' | 'cursor'>> {
  const { limit, cursor, ...filter } = query;
  const asked = Object.entries(filter).filter(([, value]) => value !== undefined);
  const list = [operation, scope.workspaceId, scope.isDemo ?? 'both', asked.sort(byName)];
  return {
    filter,
    page: { limit, after: cursor === undefined ? undefined : cursors.read(cursor, list) },
    next: (end) => (end === null ? null : cursors.write(end, list)),
  };
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : 1);

/** A page of a list that is short enough to be read as a whole, newest first. */
export function pageOfWhole<Row extends { id: string; created_at: string }>(
  rows: readonly Row[],
  { limit, after }: PageRequest,
): Page<Row> {
  const positioned = rows.map((row) => ({ row, at: Date.parse(row.created_at) * 1000 }));
  const isAfter = ({ row, at }: (typeof positioned)[number]): boolean =>
    after === undefined || at < after.at || (at === after.at && row.id < after.tie);
  // Compares milliseconds, like the cursor: the rows were sorted with a higher precision.
  const left = positioned
    .sort((a, b) => b.at - a.at || (a.row.id < b.row.id ? 1 : -1))
    .filter(isAfter);
  const last = left.length > limit ? left[limit - 1] : undefined;
  return {
    rows: left.slice(0, limit).map(({ row }) => row),
    end: last === undefined ? null : { at: last.at, tie: last.row.id },
  };
}
