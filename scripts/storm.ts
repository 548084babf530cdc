import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { printReport, reportFile } from '#test/storm/report.ts';
import { runStorm } from '#test/storm/run-storm.ts';
import { messageOf } from './stack/output.ts';
import { claimTemporaryFolder, clearEarlierRuns, removeFolder } from './stack/temporary-folder.ts';
import { temporaryPlace } from './stack/test-servers.ts';

/**
 * `npm run storm [-- --seconds 300] [-- --seed 7] [-- --keep] [-- --server]`: runs the service, two processes of each
 * kind, under load while its processes are killed and its connections cut; then repairs everything and verifies the
 * result. Exits with 0 if there was no violation, 1 if there was one, and 2 if the test could not run. See
 * docs/testing.md.
 */
const projectDir = join(import.meta.dirname, '..');
const prefix = 'durable-workflows-storm-';

/** The time for starting, healing, settling and verifying, in addition to the storm itself. */
const AROUND_MS = 120_000;
/** After this extra time, everything is killed. */
const TOO_LATE_MS = 15_000;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    keep: { type: 'boolean', default: false },
    calm: { type: 'boolean', default: false },
    folder: { type: 'string' },
    // The Temporal server of the compose file on Postgres instead of the embedded one.
    server: { type: 'boolean', default: false },
  },
});

/** Logs, timelines and evidence, without the databases. */
function keep(folder: string, seed: string): string {
  const time = new Date().toISOString().replaceAll(/[:.]/g, '-').slice(0, 19);
  const target = values.folder ?? join(projectDir, '.data', 'storms', `${time}-seed-${seed}`);
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(folder)) {
    if (entry === 'logs' || entry.endsWith('.ndjson') || entry === 'evidence.json') {
      cpSync(join(folder, entry), join(target, entry), { recursive: true });
    }
  }
  return target;
}

async function main(): Promise<number> {
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 5 || seconds > 3_600) {
    throw new Error('--seconds must be a whole number from 5 to 3600');
  }
  const { seed } = values;
  const began = Date.now();
  const say = (line: string): void =>
    console.log(`${((Date.now() - began) / 1_000).toFixed(1).padStart(6)} s  ${line}`);
  await clearEarlierRuns(prefix);
  const claim = await claimTemporaryFolder(prefix, temporaryPlace());
  const deadline = began + seconds * 1_000 + AROUND_MS;
  setTimeout(
    () => {
      console.error(`The storm did not end in time. Its folder: ${keep(claim.folder, seed)}`);
      process.exit(2);
    },
    deadline + TOO_LATE_MS - began,
  ).unref();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(130));
  }
  process.once('exit', () => removeFolder(claim.folder));
  let code = 2;
  try {
    const result = await runStorm({
      seed,
      seconds,
      chaos: !values.calm,
      composeServer: values.server,
      claim,
      deadline,
      say,
    });
    code = result.judgment.violations.length === 0 ? 0 : 1;
    writeFileSync(join(claim.folder, 'report.ndjson'), reportFile(result));
    printReport(seed, result);
  } finally {
    if (code !== 0 || values.keep) {
      console.log(`Kept in ${relative(process.cwd(), keep(claim.folder, seed))}`);
    }
    claim.release();
    if (existsSync(claim.folder)) removeFolder(claim.folder);
  }
  return code;
}

try {
  process.exit(await main());
} catch (error) {
  console.error(error instanceof Error ? error.stack : messageOf(error));
  process.exit(2);
}
