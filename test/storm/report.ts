import type { StormResult } from './run-storm.ts';

const SHOWN = 40;

const table = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, number]) => `${name} ${number}`)
    .join(', ') || 'none';

const total = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((sum, number) => sum + number, 0);

/** One violation per line, for programs. */
export function reportFile({ judgment }: StormResult): string {
  return judgment.violations.map((violation) => `${JSON.stringify(violation)}\n`).join('');
}

/** The faults and the result, for people. */
export function printReport(seed: string, result: StormResult): void {
  const { judgment, deaths, acknowledged, runs } = result;
  console.log('');
  console.log(`Seed           ${seed}`);
  console.log(`Deaths         ${total(deaths)}: ${table(deaths)}`);
  console.log(`Acknowledged   ${total(acknowledged)}: ${table(acknowledged)}`);
  console.log(`Runs           ${runs}`);
  console.log(`Checks         ${total(judgment.looked)}: ${table(judgment.looked)}`);
  console.log(`Violations     ${judgment.violations.length}`);
  for (const { check, subject, expected, found, at } of judgment.violations.slice(0, SHOWN)) {
    const time = at === undefined ? '' : ` (${new Date(at).toISOString()})`;
    console.log(`  ${check}: ${subject}${time}`);
    console.log(`    expected  ${expected}`);
    console.log(`    found     ${found}`);
  }
  const hidden = judgment.violations.length - SHOWN;
  if (hidden > 0) console.log(`  and ${hidden} more in report.ndjson`);
}
