import { join } from 'node:path';
import { startChild, type Child } from '../../scripts/stack/children.ts';
import { freePorts } from '../../scripts/stack/ports.ts';
import { createCall, type Call } from '../api-client.ts';
import type { Processes } from '../processes.ts';
import type { Stack } from '../stack.ts';
import { pause } from '../statistics.ts';
import { checked } from './serve.ts';

interface Restate {
  /** Calls the handler of three steps over HTTP. */
  run(): Promise<void>;
  children: Child[];
}

const binary = `@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`;
const host = '127.0.0.1';
const readyTimeoutMs = 30_000;

/** Starts the server and `programs/restate.ts`, and registers the program with the server. */
export async function startRestate(stack: Stack, processes: Processes): Promise<Restate> {
  const [nodePort = 0, ingressPort = 0, adminPort = 0, servicePort = 0] = await freePorts(4);
  const server = await startChild({
    name: 'restate-server',
    command: join(import.meta.dirname, 'node_modules', binary),
    args: ['--no-logo'],
    // None of the shell's variables, because its Restate settings and its proxy are for other servers.
    env: {
      RESTATE_BASE_DIR: join(processes.folder, 'restate'),
      RESTATE_NODE_NAME: 'bench',
      RESTATE_LISTEN_MODE: 'tcp',
      RESTATE_BIND_IP: host,
      RESTATE_BIND_PORT: String(nodePort),
      RESTATE_INGRESS__BIND_PORT: String(ingressPort),
      RESTATE_ADMIN__BIND_PORT: String(adminPort),
      RESTATE_DISABLE_TELEMETRY: 'true',
      RESTATE_LOG_FILTER: 'warn',
    },
    logFile: join(processes.folder, 'logs', 'restate-server.log'),
  });
  processes.keep(server, [['SIGTERM', 2_000]]);
  const service = await processes.startNode({
    name: 'restate-service',
    script: 'bench/peers/programs/restate.ts',
    env: { ...stack.environment, PORT: String(servicePort), RESTATE_LOGGING: 'ERROR' },
  });
  const admin = createCall(`http://${host}:${adminPort}`);
  await healthy(server, admin);
  await admin('POST', '/deployments', { uri: `http://${host}:${servicePort}` });
  const ingress = createCall(`http://${host}:${ingressPort}`);
  return { run: () => checked(() => ingress('POST', '/peers/chain')), children: [server, service] };
}

/** Waits until the server answers; rejects with the end of its log if it ends, or does not answer in time. */
async function healthy(server: Child, admin: Call): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs;
  for (;;) {
    try {
      await admin('GET', '/health');
      return;
    } catch (error) {
      if (server.exit !== undefined || performance.now() > deadline) {
        const lines = server.tail(5).join(' | ');
        throw new Error(`The Restate server did not start: ${lines}`, { cause: error });
      }
    }
    await pause(50);
  }
}
