import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** The use of a port, and the variable that changes it. Both are in the message when the port is taken. */
export interface PortUse {
  port: number;
  purpose: string;
  variable: string;
  host?: string;
}

class PortTaken extends Error {
  override name = 'PortTaken';
}

function portTakenMessage(use: PortUse): string {
  return `Port ${use.port} is taken by another process; ${use.purpose} needs it. Free it, or set ${use.variable} to another port.`;
}

type ListenResult = { port: number } | { code: string };

function tryListen(port: number, host: string): Promise<ListenResult> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve({ code: error.code ?? 'unknown' }),
    );
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      server.close(() => resolve({ port: bound }));
    });
  });
}

/** Throws PortTaken with one line for the user. Other errors (privileged port, foreign address) are named in it. */
export async function requireFreePort(use: PortUse): Promise<void> {
  const host = use.host ?? '127.0.0.1';
  const result = await tryListen(use.port, host);
  if ('port' in result) return;
  if (result.code === 'EADDRINUSE') throw new PortTaken(portTakenMessage(use));
  throw new PortTaken(
    `${use.purpose} cannot listen on ${host}:${use.port} (${result.code}). Set ${use.variable} to another port.`,
  );
}

/**
 * Below the ephemeral ports of outgoing connections (from 32768 on Linux, 49152 elsewhere), because any outgoing
 * request could take one of those before the server starts, or while it restarts.
 */
const PORTS = { from: 20_000, below: 32_768 };
const MAX_TRIES = 1_000;

/**
 * Picks `count` different free ports. Another process can take one before the server binds it; callers that cannot
 * accept that must retry.
 */
export async function freePorts(count: number, host = '127.0.0.1'): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries += 1) {
    if (tries === MAX_TRIES) throw new Error(`found no ${count} free ports on ${host}`);
    const port = randomInt(PORTS.from, PORTS.below);
    if (!ports.has(port) && 'port' in (await tryListen(port, host))) ports.add(port);
  }
  return [...ports];
}
