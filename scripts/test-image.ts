import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Check,
  checkAdmin,
  checkDeployment,
  checkDownAndUp,
  checkGuide,
  checkOwnServers,
  checkRestarts,
} from '#test/image/checks.ts';
import { provideCompose } from '#test/image/compose.ts';
import { createDeployment, type Deployment } from '#test/image/deployment.ts';
import { checkEmptyTemporal, checkRestore } from '#test/image/restore-drill.ts';
import { findEngine, Missing, run } from '#test/image/engine.ts';
import { provideBaseImages } from '#test/image/stand-ins.ts';
import { messageOf, since } from './stack/output.ts';

/**
 * `npm run test:image`: builds the image and runs docker-compose.yml, unchanged, on a Docker engine: the one that
 * answers, or one that it starts and stops itself. If no image registry can be reached, it first builds stand-ins for
 * the base images. Prints figures and the results of its checks. Exits with 1 if a check fails, and with 0 and the
 * reason if there is no engine. See docs/testing.md.
 */
const projectDir = join(import.meta.dirname, '..');

const tally = { passed: 0, failed: 0 };
const check: Check = async (title, work) => {
  try {
    await work();
    tally.passed += 1;
    console.log(`PASS ${title}`);
  } catch (error) {
    tally.failed += 1;
    console.log(`FAIL ${title}: ${messageOf(error)}`);
  }
};

/** The size of the image, and of its base image, in bytes. */
async function sizes(env: NodeJS.ProcessEnv): Promise<{ image: string; base: string }> {
  const bytes = async (name: string): Promise<string> => {
    const { stdout } = await run('docker', ['image', 'inspect', '--format', '{{.Size}}', name], {
      env,
    });
    return `${Math.round(Number(stdout) / 1e6)} MB`;
  };
  return { image: await bytes('durable-workflows'), base: await bytes('node:24-slim') };
}

/** Memory in use, by container. */
async function memory(
  { compose }: Deployment,
  env: NodeJS.ProcessEnv,
): Promise<Record<string, string>> {
  const ids = (await compose(['ps', '--quiet'])).trim().split('\n');
  const format = ['stats', '--no-stream', '--format', '{{.Name}} {{.MemUsage}}'];
  const { stdout } = await run('docker', [...format, ...ids], { env });
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ (.*)/) as [string, string]),
  );
}

async function testDeployment(env: NodeJS.ProcessEnv, standIns: string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'image-'));
  const deployment = await createDeployment(projectDir, env, folder);
  try {
    // What an interrupted test has left.
    await deployment.compose(['down', '--volumes']);
    const started = performance.now();
    await deployment.compose(['build']);
    console.log(`The image was built in ${since(started)}`);
    await checkOwnServers(deployment, check);
    const secondsToReady = await deployment.up();
    const runId = await checkDeployment(deployment, check);
    await checkGuide(deployment, check);
    await checkAdmin(deployment, projectDir, check);
    const load = await checkRestarts(deployment, check);
    const memoryInUse = await memory(deployment, env);
    const secondsToReadyAgain = await checkDownAndUp(deployment, runId, check);
    const restored = await checkRestore(deployment, projectDir, check);
    await checkEmptyTemporal(deployment, check);
    const figures = { secondsToReady, secondsToReadyAgain, ...(await sizes(env)), standIns };
    console.log(JSON.stringify({ ...figures, memoryInUse, ...load, ...restored }, null, 2));
  } finally {
    await deployment.compose(['down', '--volumes']);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => process.exit(130));
  }
  const engine = await findEngine(projectDir);
  try {
    const env = await provideCompose(engine, projectDir);
    await testDeployment(env, await provideBaseImages(projectDir, env));
  } finally {
    await engine.stop();
  }
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  return tally.failed === 0 ? 0 : 1;
}

try {
  process.exit(await main());
} catch (error) {
  if (error instanceof Missing) {
    console.log(`Passed over: ${error.message}`);
    process.exit(0);
  }
  console.error(`The image could not be tested: ${messageOf(error)}`);
  process.exit(2);
}
