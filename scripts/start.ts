import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase } from '#shared/db/pool.ts';
import { readOwnerAccount } from '#shared/db/people/sign-ins.ts';
import { loadConfig } from '#shared/platform/config.ts';
import type { Config } from '#shared/platform/config.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { recordExample, readExamples } from '#shared/db/workflows/examples-made.ts';
import { type ExampleMemory, seed } from './seed.ts';
import { requireFinishedRestore } from './backup/data-folder.ts';
import { claimFolder } from './stack/claim.ts';
import type { Claim } from './stack/claim.ts';
import { loadEnvFile } from './stack/env-file.ts';
import { makeDataFolder } from './stack/make-folders.ts';
import { messageOf } from './stack/output.ts';
import { createSupervisor } from './stack/supervisor.ts';
import type { Supervisor } from './stack/supervisor.ts';
import { whenStarterEnds } from './stack/starter.ts';
import { cachedWorkflowBundle } from './stack/workflow-bundle.ts';
import {
  type Addresses,
  both,
  childEnvironment,
  projectDir,
  type Seconds,
  startProcess,
  startServers,
  timer,
} from './start/servers.ts';
import { banner, endpointsPath, type Seeded, writeEndpoints } from './start/banner.ts';
import { settlePorts } from './start/choose-ports.ts';

/**
 * `npm start`: starts Postgres and Temporal in parallel, then runs migrations, API and worker, creates the example data
 * on the first start, and prints a banner with all addresses. Servers that the environment configures (DATABASE_URL,
 * TEMPORAL_ADDRESS) are not started. One Ctrl-C stops everything in order, a second one immediately.
 */

/** npm forwards a Ctrl-C that the terminal has already delivered, so two within this time count as one. */
const sameSignalMs = 500;

/** The owner creates the examples. If requests need a session, this process signs one with the secret key. */
async function seedAsOwner(
  config: Config,
  { api: apiUrl, databaseUrl }: Addresses,
  secretKey: string,
): Promise<Seeded> {
  const dataKeyFile = join(config.dataDir, 'data-key');
  const db = await connectDatabase(databaseUrl, { maxPoolSize: 1 });
  try {
    const owner = await readOwnerAccount(db);
    if (owner === undefined) throw new Error('The default workspace has no owner');
    const { workspaceId } = owner;
    const memory: ExampleMemory = {
      read: () => readExamples(db, workspaceId),
      note: (key, id) => recordExample(db, { workspaceId, key, id }),
    };
    if (config.auth.mode === 'open') return await seed({ apiUrl, dataKeyFile, memory });
    const { token } = await createSessionTokens(secretKey).issue({
      memberId: owner.id,
      epoch: owner.sessionEpoch,
    });
    return await seed({ apiUrl, token, dataKeyFile, memory });
  } finally {
    await db.end();
  }
}

async function launch(config: Config, supervisor: Supervisor): Promise<string> {
  const seconds: Seconds = new Map();
  const time = timer(seconds);
  const [addresses, bundle] = await both(
    startServers(config, supervisor, time),
    time('workflow bundle', cachedWorkflowBundle(projectDir)),
  );
  // Generated if not configured, as in the API. Sessions then end with this start.
  const secretKey = config.auth.secretKey ?? randomBytes(32).toString('base64');
  const env = {
    ...childEnvironment(config, addresses, bundle, secretKey),
    // Ctrl-C also stops the servers, so there is nothing to wait for.
    SHUTDOWN_GRACE_SECONDS: '1',
  };
  await both(
    time('api', startProcess('api', config, env, supervisor)),
    time('worker', startProcess('worker', config, env, supervisor)),
  );
  const seeded = config.seed
    ? await time('examples', seedAsOwner(config, addresses, secretKey))
    : undefined;
  writeEndpoints(config, addresses, supervisor, seeded);
  // `ops dev` starts this process, and ends with it.
  process.send?.({ api: addresses.api });
  // Counted from the start of this process, including module loading.
  return banner(config, addresses, seconds, performance.now() / 1_000, seeded);
}

async function main(): Promise<void> {
  // The terminal can close before this process ends.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  loadEnvFile(projectDir);
  const configured = loadConfig();
  makeDataFolder(configured.dataDir);
  requireFinishedRestore(configured);
  process.umask(0o077);
  const claim = await claimFolder(configured.dataDir);
  if (claim.ended.length > 0) {
    console.log(`Ended processes of an earlier start: ${claim.ended.join(', ')}`);
  }

  let leaving: Promise<void> | undefined;
  let firstSignalAt = 0;
  const leave = (code: number): Promise<void> => {
    leaving ??= finish(configured, supervisor, claim).finally(() => process.exit(code));
    return leaving;
  };
  const supervisor = createSupervisor(claim, (report) => {
    console.error(report);
    void leave(1);
  });
  process.on('exit', () => supervisor.killAll());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      if (leaving === undefined) {
        firstSignalAt = now;
        console.log('\nStopping ...');
        void leave(0);
      } else if (now - firstSignalAt > sameSignalMs) {
        supervisor.killAll();
      }
    });
  }
  process.on('disconnect', () => void leave(0));
  whenStarterEnds(() => {
    console.error('npm has ended: stopping');
    void leave(0);
  });
  try {
    const config = await settlePorts(configured);
    const text = await launch(config, supervisor);
    if (leaving === undefined) console.log(text);
  } catch (error) {
    // During a stop, a part that is still starting fails because it was stopped.
    if (leaving === undefined) {
      console.error(messageOf(error));
      await leave(1);
    }
  }
  await leaving;
}

async function finish(config: Config, supervisor: Supervisor, claim: Claim): Promise<void> {
  rmSync(endpointsPath(config), { force: true });
  await supervisor.stopAll();
  claim.release();
}

try {
  await main();
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}
