import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterPrograms } from '#scripts/setup/cluster-programs.mjs';
import { type Child, describeExit, startChild } from '#scripts/stack/children.ts';

const READY_MS = 30_000;

/** Starts the Temporal UI of the compose file on loopback. Throws if it ends or does not answer in time. */
export async function startTemporalUi(options: {
  dataDir: string;
  projectDir: string;
  port: number;
  /** Where browsers open it. */
  publicUrl: string;
  temporalAddress: string;
  namespace: string;
  onSpawn: (child: Child) => void;
}): Promise<Child> {
  mkdirSync(options.dataDir, { recursive: true });
  const config = {
    temporalGrpcAddress: options.temporalAddress,
    host: '127.0.0.1',
    port: options.port,
    enableUi: true,
    defaultNamespace: options.namespace,
    notifyOnNewVersion: false,
    disableNewsFetch: true,
    cors: { allowOrigins: [options.publicUrl], cookieInsecure: true },
  };
  // It looks for `<env>.yaml` in a folder. JSON is valid YAML.
  writeFileSync(join(options.dataDir, 'temporal-ui.yaml'), JSON.stringify(config, null, 2));
  const child = await startChild({
    name: 'temporal-ui',
    command: clusterPrograms(options.projectDir).ui.path,
    args: ['--root', options.dataDir, '--config', '.', '--env', 'temporal-ui', 'start'],
    env: { PATH: process.env['PATH'], no_grpc_proxy: '127.0.0.1,localhost' },
    logFile: join(options.dataDir, 'logs', 'temporal-ui.log'),
  });
  options.onSpawn(child);
  const deadline = Date.now() + READY_MS;
  while (!(await answers(options.port))) {
    if (child.exit !== undefined || Date.now() > deadline) {
      const how = child.exit === undefined ? 'no answer' : describeExit(child.exit);
      throw new Error(`The Temporal UI did not start (${how}): ${child.tail(3).join(' | ')}`);
    }
    await sleep(50);
  }
  return child;
}

async function answers(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
