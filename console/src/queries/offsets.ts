/** Where the page after the last one read begins, or undefined when that one was not full. */
export function nextOffset(lastLength: number, read: number, pageSize: number): number | undefined {
  return lastLength < pageSize ? undefined : read;
}

/** The rows of all pages. What arrived between two reads pushed some to the next page; they are shown once. */
export function newRows<Row extends { id: string }>(pages: readonly Row[][]): Row[] {
  return [...new Map(pages.flat().map((row) => [row.id, row])).values()];
}
