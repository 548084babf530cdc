/** Cells as RFC 4180 writes them, made so that a spreadsheet takes none of them for a formula. */

/**
 * What a spreadsheet may take for a formula: its first visible character, in any width. Before it may stand whatever
 * shows nothing and may be dropped on the way in: white space, control and format characters, and all that Unicode calls
 * ignorable. A tab or a carriage return there is enough, since it may begin a cell of its own.
 */
const FORMULA =
  /^[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]/v;
/** Given by hand, each line of a cell becomes a cell. */
const FORMULA_LINE =
  /(\r\n|[\n\r\v\f\x85\u2028\u2029])(?=[[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]--[\n\r\v\f\x85\u2028\u2029]]*[=+\-@\t\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/gv;
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
