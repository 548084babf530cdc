/** Cells as in RFC 4180, escaped so that no spreadsheet reads them as a formula. */

/**
 * Matches text that a spreadsheet may read as a formula, by its first visible character, in any width, after invisible
 * characters that an import may drop: white space, control and format characters, and everything that Unicode calls
 * ignorable. A tab or carriage return also counts, since it may start a new cell.
 */
const FORMULA =
  /^[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b]/v;
/** When entered manually, each line of a cell becomes a separate cell. */
const FORMULA_LINE =
  /(\r\n|[\n\r\v\f\x85\u2028\u2029])(?=[[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]--[\n\r\v\f\x85\u2028\u2029]]*[=+\-@\t\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])/gv;
const QUOTED = /[",\r\n]/;

/** One line, with its line break. Objects and lists become JSON; null becomes an empty cell. */
export const csvLine = (cells: readonly unknown[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/** The first line, with the names of the columns. The byte order mark tells spreadsheets that the text is UTF-8. */
export const csvHeader = (columns: readonly string[]): string => `\ufeff${csvLine(columns)}`;

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  // A number may start with a minus sign.
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  // JSON starts with a bracket and is one line.
  const text = typeof value === 'string' ? defused(value) : JSON.stringify(value);
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const defused = (text: string): string =>
  (FORMULA.test(text) ? `'${text}` : text).replace(FORMULA_LINE, "$1'");
