/** Cells as RFC 4180 writes them, made so that a spreadsheet takes none of them for a formula. */

/** What a spreadsheet may take for a formula: its first character, in either width, after whatever looks like nothing. */
const FORMULA = /^[\s\u200b]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;
/** Given by hand, each line of a cell becomes a cell. */
const FORMULA_LINE = /(\r\n|\n|\r)(?=(?:[^\S\r\n]|\u200b)*[=+\-@\t\uff1d\uff0b\uff0d\uff20])/g;
const QUOTED = /[",\r\n]/;

/** One line, with its end. Objects and lists become JSON, null an empty cell. */
export const csvLine = (cells: readonly unknown[]): string => `${cells.map(csvCell).join(',')}\r\n`;

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  // A number may begin with a minus, and means it.
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  // JSON begins with a bracket and is of one line.
  const text = typeof value === 'string' ? defused(value) : JSON.stringify(value);
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const defused = (text: string): string =>
  (FORMULA.test(text) ? `'${text}` : text).replace(FORMULA_LINE, "$1'");
