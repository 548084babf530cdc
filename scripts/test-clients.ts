import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '#shared/db/migrate.ts';
import { checks, type Target } from '#test/clients/checks.ts';
import { missing } from '#test/clients/tools.ts';
import { type Installation, startInstallation } from '#test/seed/installation.ts';
import { createTemplate } from './stack/databases.ts';
import { messageOf, since } from './stack/output.ts';
import { removeFolder } from './stack/temporary-folder.ts';
import { claimTestFolder, clearEarlierTests, startTestServers } from './stack/test-servers.ts';
import { cachedWorkflowBundle } from './stack/workflow-bundle.ts';

/**
 * `npm run test:clients`: starts the service, generates clients from its two OpenAPI documents with popular generators,
 * and tests them against it, and the Python client. `npm run test:clients -- Python` runs the checks whose names contain
 * this. Exits with 1 if a check failed. See docs/testing.md.
 */
const projectDir = join(import.meta.dirname, '..');

/** Sends a body, if any, and reads the JSON of the response. Throws for an error status. */
async function ask<Answer>(url: string, body?: unknown): Promise<Answer> {
  const answer = await fetch(url, {
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Answer;
}

/** Writes the service's documents; creates a key of the data API and a record that it can read. */
async function prepare({ apiUrl }: Installation, folder: string): Promise<Target> {
  mkdirSync(folder, { recursive: true });
  const documents = { ops: join(folder, 'ops.json'), data: join(folder, 'data.json') };
  writeFileSync(documents.ops, JSON.stringify(await ask(`${apiUrl}/api/openapi.json`)));
  writeFileSync(documents.data, JSON.stringify(await ask(`${apiUrl}/v1/openapi.json`)));
  const feed = await ask<{ id: string }>(`${apiUrl}/api/data/feeds`, { name: 'Permits' });
  const record = {
    type: 'entity',
    external_key: 'permit-1',
    entity_type: 'project',
    canonical_name: 'Riverside Tower',
    attributes: {},
    source_evidence: [{ source_name: 'Portal', url: null }],
  };
  await ask(`${apiUrl}/api/data/ingest`, { feed_id: feed.id, records: [record] });
  const key = { name: 'clients', mode: 'live', scopes: ['entities:read'] };
  const { secret } = await ask<{ secret: string }>(`${apiUrl}/api/data/keys`, key);
  return { apiUrl, dataKey: secret, folder, documents };
}

const wanted = process.argv.slice(2).join(' ');
const isWanted = (name: string): boolean => name.includes(wanted);

async function checkAll(target: Target): Promise<number> {
  const tally = { passed: 0, failed: 0, skipped: 0 };
  for (const { name, needs, lacks, check } of checks.filter((each) => isWanted(each.name))) {
    const started = performance.now();
    const without = [...(await missing(needs)), ...[(await lacks?.()) ?? []].flat()];
    if (without.length > 0) {
      tally.skipped += 1;
      console.log(`SKIP ${name}: not on this machine: ${without.join(', ')}`);
      continue;
    }
    try {
      await check(target);
      tally.passed += 1;
      console.log(`PASS ${name} (${since(started)})`);
    } catch (error) {
      tally.failed += 1;
      console.log(`FAIL ${name} (${since(started)})\n${messageOf(error)}`);
    }
  }
  console.log(`${tally.passed} passed, ${tally.failed} failed, ${tally.skipped} skipped`);
  return tally.failed === 0 ? 0 : 1;
}

async function main(): Promise<number> {
  await clearEarlierTests();
  const claim = await claimTestFolder();
  process.once('exit', () => removeFolder(claim.folder));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(130));
  }
  const bundling = cachedWorkflowBundle(projectDir);
  bundling.catch(() => undefined);
  const servers = await startTestServers(claim);
  try {
    // The same as `npm test` passes to its files.
    Object.assign(process.env, {
      TEST_DATABASE_URL: servers.databaseUrl,
      TEST_DATABASE_TEMPLATE: await createTemplate(servers.databaseUrl, migrate),
      TEST_TEMPORAL_ADDRESS: servers.temporalAddress,
      TEST_FOLDER: claim.folder,
      WORKFLOW_BUNDLE: await bundling,
      no_grpc_proxy: '127.0.0.1,localhost',
      NO_PROXY: '127.0.0.1,localhost',
    });
    const service = await startInstallation();
    try {
      return await checkAll(await prepare(service, join(claim.folder, 'clients')));
    } finally {
      await service.close();
    }
  } finally {
    await servers.stop();
    claim.release();
  }
}

try {
  process.exit(await main());
} catch (error) {
  console.error(`The clients could not be checked: ${messageOf(error)}`);
  process.exit(1);
}
