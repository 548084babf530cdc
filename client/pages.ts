/** Iterates over the rows of a list that is paged by cursor. Requests each page when it is needed. */
export async function* byCursor<Page extends { next_cursor: string | null }, Row>(
  read: (cursor: string | undefined) => Promise<Page>,
  rowsOf: (page: Page) => Row[],
): AsyncGenerator<Row, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield* rowsOf(page);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** Secrets only have a name. */
type Identified = { id: string } | { name: string };
const keyOf = (row: Identified): string => ('id' in row ? row.id : row.name);

/**
 * Iterates over the rows of a newest-first list that is paged by offset. New rows shift the others to later pages: rows
 * that were already returned, or that are in `seen`, are skipped.
 */
export async function* byOffset<Row extends Identified>(
  read: (offset: number) => Promise<Row[]>,
  seen: readonly Row[] = [],
): AsyncGenerator<Row, void, undefined> {
  let before = new Set(seen.map(keyOf));
  let offset = seen.length;
  for (;;) {
    const rows = await read(offset);
    if (rows.length === 0) return;
    yield* rows.filter((row) => !before.has(keyOf(row)));
    before = new Set([...before, ...rows.map(keyOf)]);
    offset += rows.length;
  }
}

/** Maximum rows in a list response without a cursor. */
const MAX_PAGE = 200;

/**
 * All rows of a list without a cursor, read page by page if one response is not enough. With `limit` or `offset`,
 * returns only that page.
 */
export async function wholeList<
  Row extends Identified,
  Query extends { limit?: number; offset?: number },
>(read: (query: Query) => Promise<Row[]>, query: Query): Promise<Row[]> {
  const rows = await read(query);
  if (query.limit !== undefined || query.offset !== undefined || rows.length < MAX_PAGE) {
    return rows;
  }
  for await (const row of byOffset((offset) => read({ ...query, limit: MAX_PAGE, offset }), rows)) {
    rows.push(row);
  }
  return rows;
}
