/** Goes through a list that answers pages with a cursor, row by row. A page is asked for when it is needed. */
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

/**
 * Goes through a newest-first list that is paged by offset, row by row. Rows that arrive meanwhile push the others
 * on; those seen already are passed over, and so are those that the caller has `seen`.
 */
export async function* byOffset<Row extends { id: string }>(
  read: (offset: number) => Promise<Row[]>,
  seen: readonly Row[] = [],
): AsyncGenerator<Row, void, undefined> {
  let before = new Set(seen.map(({ id }) => id));
  let offset = seen.length;
  for (;;) {
    const rows = await read(offset);
    if (rows.length === 0) return;
    yield* rows.filter(({ id }) => !before.has(id));
    before = new Set([...before, ...rows.map(({ id }) => id)]);
    offset += rows.length;
  }
}

/** Rows that a bare list answers with at most. */
const MAX_PAGE = 200;

/**
 * All rows of a bare list, read page by page where there are more than it answers with at once. A `limit` or an `offset`
 * asks for that page alone.
 */
export async function wholeList<
  Row extends { id: string },
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
