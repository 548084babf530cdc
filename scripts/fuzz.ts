import { cpSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { refusalsOf, reportOf } from '#test/fuzz/report.ts';
import { runFuzz } from '#test/fuzz/run-fuzz.ts';
import { startFuzzedService } from '#test/fuzz/target.ts';
import { migrate } from '#shared/db/migrate.ts';
import { cloneDatabase, createTemplate, databaseUrl } from './stack/databases.ts';
import { messageOf } from './stack/output.ts';
import { claimTemporaryFolder, clearEarlierRuns, removeFolder } from './stack/temporary-folder.ts';
import { startTestServers, temporaryPlace } from './stack/test-servers.ts';
import { cachedWorkflowBundle } from './stack/workflow-bundle.ts';

/**
 * `npm run fuzz [-- --requests 50000] [-- --seed 7] [-- --refusals]`: sends requests of every kind, generated from the
 * OpenAPI documents, to its own service and validates every response against them. Exits with 0 if all were as
 * documented, 1 if some were not, 2 if the test could not run. See docs/testing.md.
 */
const projectDir = join(import.meta.dirname, '..');
const prefix = 'durable-workflows-fuzz-';
const MAX_REQUESTS = 10_000_000;

interface Options {
  requests: number;
  seed: string;
  refusals: boolean;
}

/** Throws an Error with one sentence if an argument is invalid. */
function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      requests: { type: 'string', default: '50000' },
      seed: { type: 'string', default: String(Date.now() % 100_000) },
      refusals: { type: 'boolean', default: false },
    },
  });
  const requests = Number(values.requests);
  if (!/^\d+$/.test(values.requests) || requests < 1 || requests > MAX_REQUESTS) {
    throw new Error(`--requests must be a whole number from 1 to ${MAX_REQUESTS}.`);
  }
  if (!/^\w{1,40}$/.test(values.seed)) {
    throw new Error('--seed must be 1 to 40 letters, digits or underscores.');
  }
  return { requests, seed: values.seed, refusals: values.refusals };
}

async function main({ requests, seed, refusals }: Options): Promise<number> {
  await clearEarlierRuns(prefix);
  const claim = await claimTemporaryFolder(prefix, temporaryPlace());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(130));
  }
  process.once('exit', () => removeFolder(claim.folder));
  process.env['TEST_FOLDER'] = claim.folder;
  const bundling = cachedWorkflowBundle(projectDir);
  bundling.catch(() => undefined);
  const servers = await startTestServers(claim);
  const template = await createTemplate(servers.databaseUrl, migrate);
  const database = await cloneDatabase(servers.databaseUrl, template, 'fuzz');
  const service = await startFuzzedService({
    databaseUrl: databaseUrl(servers.databaseUrl, database),
    temporalAddress: servers.temporalAddress,
    taskQueuePrefix: 'fuzz',
    workflowBundle: await bundling,
  });
  try {
    const result = await runFuzz({ service, seed, requests, say: console.log });
    console.log(reportOf(result));
    if (refusals) console.log(['\nrefused', ...refusalsOf(result)].join('\n'));
    if (result.failures.length === 0) return 0;
    // The folder is removed with this process. Only the API's log contains the causes of errors.
    const kept = join(projectDir, '.data', 'fuzz', `seed-${seed}`);
    cpSync(join(claim.folder, 'logs'), kept, { recursive: true });
    console.log(`\nThe logs of both processes are kept in ${relative(process.cwd(), kept)}`);
    return 1;
  } finally {
    await service.stop();
    await servers.stop();
    claim.release();
  }
}

let options: Options;
try {
  options = readOptions();
} catch (error) {
  console.error(messageOf(error));
  process.exit(2);
}
try {
  process.exit(await main(options));
} catch (error) {
  console.error(error instanceof Error ? error.stack : messageOf(error));
  process.exit(2);
}
