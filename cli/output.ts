import Table from 'cli-table3';

export type Format = 'table' | 'json';

/** The output of a command, on standard output. */
export interface Output {
  format: Format;
  colour: boolean;
  /** Prints a table, or the value as JSON. */
  list: <Row>(rows: readonly Row[], columns: Columns<Row>) => void;
  /** Prints one object with a line per field, or the value as JSON. */
  record: (value: object, fields?: Record<string, unknown>) => void;
  /** Prints a sentence for people, which JSON output omits. */
  note: (text: string) => void;
  line: (text: string) => void;
  paint: Paint;
}

/** The columns of a table by title: a field of the rows, or what is computed from a row. */
export type Columns<Row> = Record<string, (keyof Row & string) | ((row: Row) => unknown)>;
export type Paint = (colour: keyof typeof colours, text: string) => string;

const colours = { green: 32, red: 31, yellow: 33, dim: 2, bold: 1 } as const;

export const painter =
  (colour: boolean): Paint =>
  (name, text) =>
    colour ? `\u001b[${colours[name]}m${text}\u001b[0m` : text;

export function createOutput(
  stream: { write: (text: string) => unknown },
  { format, colour }: { format: Format; colour: boolean },
): Output {
  const line = (text: string): void => void stream.write(`${printableLines(text)}\n`);
  const json = (value: unknown): void => line(exactJson(value));
  const paint = painter(colour);
  return {
    format,
    colour,
    line,
    paint,
    note: (text) => {
      if (format === 'table') line(text);
    },
    list: (rows, columns) => {
      if (format === 'json') return json(rows);
      const table = plainTable(Object.keys(columns).map((title) => paint('bold', title)));
      const valueIn = (row: (typeof rows)[number], column: (typeof columns)[string]): unknown =>
        typeof column === 'function' ? column(row) : row[column];
      table.push(
        ...rows.map((row) => Object.values(columns).map((each) => cell(valueIn(row, each)))),
      );
      line(textOf(table));
    },
    record: (value, fields) => {
      if (format === 'json') return json(value);
      const table = plainTable([]);
      const entries = Object.entries(fields ?? value);
      table.push(...entries.map(([name, field]) => [paint('bold', name), cell(field)]));
      line(textOf(table));
    },
  };
}

const edges = ['top', 'bottom', 'left', 'right', 'mid'].flatMap((side) => [
  side,
  ...['mid', 'left', 'right'].map((part) => `${side}-${part}`),
]);

/** Separates columns only with spaces, so that other programs can cut and search them. */
function plainTable(head: string[]): Table.Table {
  const chars = Object.fromEntries(
    [...edges, 'left-mid', 'mid-mid', 'right-mid'].map((c) => [c, '']),
  );
  return new Table({
    head,
    chars: { ...chars, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
}

/** Without the spaces behind the last column, which a terminal would wrap into empty lines. */
const textOf = (table: Table.Table): string => table.toString().replaceAll(/ +$/gm, '');

function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  return printable(typeof value === 'string' ? value : JSON.stringify(value));
}

/** Characters that control the terminal or the direction of the surrounding text. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/g;

/** Replaces control characters, so that external text cannot control the terminal or reverse the text around it. */
export const printable = (text: string): string => text.replaceAll(CONTROLS, ' ');

/** Like `printable`, for a text with our own line endings and colors. */
const printableLines = (text: string): string =>
  text
    .split(/(\n|\u001b\[\d+m)/)
    .map((part, at) => (at % 2 === 0 ? printable(part) : part))
    .join('');

/**
 * JSON text in which nothing is hidden: invisible characters, and those that change the direction of text, are escaped.
 */
export const exactJson = (value: unknown, indent = 2): string =>
  JSON.stringify(value, null, indent).replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** At least the known cost, if some steps have no price. */
export const costOf = ({
  cost_usd: cost,
  unpriced_steps: unpriced,
}: {
  cost_usd: number;
  unpriced_steps: number;
}): string => (unpriced > 0 ? `≥ $${cost}` : `$${cost}`);

export const dollars = (amount: number | null): string => (amount === null ? '-' : `$${amount}`);
