import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import type { Bound, Figure, Result, Unit } from './result.ts';

export interface Report {
  date: string;
  machine: { processor: string; cores: number; memory_gb: number; node: string };
  /** Load averages over one minute: far above the number of cores, absolute figures mean little. */
  load: { before: number; after: number };
  seconds: number;
  results: Result[];
  /** Measures that failed, with the reason. */
  errors: Record<string, string>;
}

export const machine = (): Report['machine'] => ({
  processor: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  memory_gb: Math.round(totalmem() / 1e9),
  node: process.versions.node,
});

export const load = (): number => Math.round((loadavg()[0] ?? 0) * 10) / 10;

const number = (value: number): string => {
  if (Number.isNaN(value)) return '-';
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return value.toFixed(value >= 10 ? 1 : 2);
};

const withP95 = (figure: Figure | undefined): string => {
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

export function table(results: readonly Result[]): string {
  const rows = [header, ...results.map(cells)];
  const widths = header.map((_, column) =>
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

function markdown(report: Report): string {
  const { machine: on, load: loads } = report;
  const lines = [
    `# Benchmark of ${report.date.slice(0, 10)}`,
    '',
    `${on.processor}, ${on.cores} cores, ${on.memory_gb} GB, Node ${on.node}; load average ${loads.before} before and ` +
      `${loads.after} after; ${Math.round(report.seconds)} s in all. Both sides took turns against the same servers, so ` +
      'the ratios hold also where the absolute figures do not.',
    '',
    `| ${header.join(' | ')} |`,
    `|${header.map(() => '---').join('|')}|`,
    ...report.results.map((result) => `| ${cells(result).join(' | ')} |`),
    '',
  ];
  const notes = report.results.filter((result) => result.notes.length > 0);
  for (const { measure, notes: texts } of notes) lines.push(`- ${measure}: ${texts.join('; ')}`);
  for (const [name, reason] of Object.entries(report.errors)) {
    lines.push(`- \`${name}\` was not measured: ${reason.split('\n')[0] ?? ''}`);
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

/** Writes `<name>.json` and `<name>.md`; returns their path without the extension. */
export function write(report: Report, folder: string, name: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
  writeFileSync(`${path}.md`, markdown(report));
  return path;
}
