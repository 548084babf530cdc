/** The pages of a list with a cursor, for `infiniteQueryOptions`. */
export const cursorPages = {
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page: { next_cursor: string | null }) => page.next_cursor ?? undefined,
};

/** The offset of the next page; undefined if the last page was not full. */
export function nextOffset(lastLength: number, read: number, pageSize: number): number | undefined {
  return lastLength < pageSize ? undefined : read;
}

/** The unique rows of all pages: new rows between two reads shift some rows to the next page. */
export function newRows<Row extends { id: string }>(pages: readonly Row[][]): Row[] {
  return [...new Map(pages.flat().map((row) => [row.id, row])).values()];
}
