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
 * on; those seen already are passed over.
 */
export async function* byOffset<Row extends { id: string }>(
  read: (offset: number) => Promise<Row[]>,
): AsyncGenerator<Row, void, undefined> {
  let before = new Set<string>();
  let offset = 0;
  for (;;) {
    const rows = await read(offset);
    if (rows.length === 0) return;
    yield* rows.filter(({ id }) => !before.has(id));
    before = new Set([...before, ...rows.map(({ id }) => id)]);
    offset += rows.length;
  }
}
