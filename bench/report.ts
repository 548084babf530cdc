import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { projectDir } from './processes.ts';
import type { Bound, Figure, Result, Unit } from './result.ts';

/** When, where and under which load a benchmark ran. */
export interface Circumstances {
  date: string;
  machine: { processor: string; cores: number; memory_gb: number; node: string };
  /** Load averages over one minute: far above the number of cores, absolute figures mean little. */
  load: { before: number; after: number };
  seconds: number;
  /** Measures or systems that failed, with the reason. */
  errors: Record<string, string>;
}

export interface Report extends Circumstances {
  results: Result[];
}

/** What a report shows besides the circumstances. */
export interface Page {
  title: string;
  /** A sentence about how to read the figures. */
  remark: string;
  /** The cells of the table; the first row is its header. */
  rows: readonly (readonly string[])[];
  /** Sentences below the table. */
  notes: readonly string[];
}

const machine = (): Circumstances['machine'] => ({
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gb: Math.round(totalmem() / 1e9),
  node: process.versions.node,
});

const load = (): number => Math.round((loadavg()[0] ?? 0) * 10) / 10;

/** The circumstances at the start; `finish` completes them. */
export const begin = (): Circumstances => ({
  date: new Date().toISOString(),
  machine: machine(),
  load: { before: load(), after: 0 },
  seconds: 0,
  errors: {},
});

export function finish(report: Circumstances): void {
  report.load.after = load();
  report.seconds = (Date.now() - Date.parse(report.date)) / 1_000;
}

export const number = (value: number): string => {
  if (Number.isNaN(value)) return '-';
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : 2);
};

export const withP95 = (figure: Figure | undefined): string => {
  if (figure === undefined) return '-';
  const { median, p95 } = figure;
  return p95 === undefined ? number(median) : `${number(median)} (p95 ${number(p95)})`;
};

const boundText = ({ at, value, aim }: Bound): string =>
  `${at === 'most' ? '≤' : '≥'} ${value}${aim === undefined ? '' : `, aim ${aim}`}`;

const label = (measure: string, unit: Unit): string => `${measure}, ${unit}`;

const header = ['measure', 'ours', 'baseline', 'ratio', 'bound', 'met'];

const cells = (result: Result): string[] => [
  label(result.measure, result.unit),
  withP95(result.ours),
  withP95(result.baseline),
  result.baseline === undefined ? '-' : result.value.toFixed(2),
  boundText(result.bound),
  result.met ? 'yes' : 'NO',
];

/** The rows as text, with columns aligned by spaces. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const page = ({ date, results }: Report): Page => ({
  title: `Benchmark of ${date.slice(0, 10)}`,
  remark:
    'Both sides took turns against the same servers, so the ratios hold also where the absolute figures do not.',
  rows: [header, ...results.map(cells)],
  notes: results
    .filter(({ notes }) => notes.length > 0)
    .map(({ measure, notes }) => `${measure}: ${notes.join('; ')}`),
});

function markdown(report: Circumstances, { title, remark, rows, notes }: Page): string {
  const { machine: on, load: loads } = report;
  const [first = [], ...rest] = rows;
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |`;
  const lines = [
    `# ${title}`,
    '',
    `${on.processor}, ${on.cores} cores, ${on.memory_gb} GB, Node ${on.node}; load average ${loads.before} before and ` +
      `${loads.after} after; ${Math.round(report.seconds)} s in all. ${remark}`,
    '',
    line(first),
    `|${first.map(() => '---').join('|')}|`,
    ...rest.map(line),
    '',
    ...notes.map((note) => `- ${note}`),
    ...Object.entries(report.errors).map(
      ([name, reason]) => `- \`${name}\` was not measured: ${reason.split('\n')[0] ?? ''}`,
    ),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}

/** Writes `<name>.json` and `<name>.md` into the folder, and prints the table, the notes and the paths. */
export function publish(
  report: Circumstances,
  content: Page,
  { folder, name }: { folder: string; name: string },
): void {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(`${path}.md`, markdown(report, content));
  console.log(`\n${aligned(content.rows)}\n`);
  for (const note of content.notes) console.log(note);
  console.log(
    `Load average ${report.load.before} before, ${report.load.after} after, ${report.machine.cores} cores.`,
  );
  console.log(`Written to ${relative(projectDir, path)}.json and .md`);
}
