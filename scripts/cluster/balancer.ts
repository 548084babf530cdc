import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** How often each server's readiness is probed, and how long the response can take. */
const PROBE_EVERY_MS = 250;
const PROBE_TIMEOUT_MS = 2_000;

export interface Balancer {
  port: number;
  close(): Promise<void>;
}

interface Upstream {
  port: number;
  ready: boolean;
  connections: number;
}

/**
 * Forwards each connection to the ready server with the fewest connections, including WebSockets. A server is ready
 * while `GET /api/ready` succeeds. A server that stops closes its connections itself, and clients open new ones.
 * `ports`: the servers, on loopback.
 */
export async function startBalancer(options: {
  host: string;
  port: number;
  ports: readonly number[];
}): Promise<Balancer> {
  const upstreams = options.ports.map((port): Upstream => ({ port, ready: false, connections: 0 }));
  const sockets = new Set<Socket>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('close', () => sockets.delete(socket));
    // The other side is closed by the pipe's end.
    socket.on('error', () => socket.destroy());
  };
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (client) => {
    track(client);
    void forward(client, upstreams, track);
  });
  await Promise.all(upstreams.map(probe));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const probes = setInterval(() => upstreams.forEach((each) => void probe(each)), PROBE_EVERY_MS);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      clearInterval(probes);
      sockets.forEach((socket) => socket.destroy());
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

async function probe(upstream: Upstream): Promise<void> {
  try {
    const answer = await fetch(`http://127.0.0.1:${upstream.port}/api/ready`, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    });
    await answer.body?.cancel();
    upstream.ready = answer.ok;
  } catch {
    upstream.ready = false;
  }
}

/**
 * Ready servers first, then the others, because a probe can be late. Among equals, the one with the fewest connections
 * comes first.
 */
const byPreference = (upstreams: readonly Upstream[]): Upstream[] =>
  upstreams.toSorted((a, b) => Number(b.ready) - Number(a.ready) || a.connections - b.connections);

/** Tries the servers one after another, and closes the client's connection if none accepts it. */
async function forward(
  client: Socket,
  upstreams: readonly Upstream[],
  track: (socket: Socket) => void,
): Promise<void> {
  for (const upstream of byPreference(upstreams)) {
    // Counted before it is open, so that connections that arrive together are spread over the servers.
    upstream.connections += 1;
    const socket = await open(upstream.port);
    if (socket === undefined || client.destroyed) {
      upstream.connections -= 1;
      upstream.ready &&= socket !== undefined;
      socket?.destroy();
      if (client.destroyed) return;
      continue;
    }
    track(socket);
    socket.on('close', () => {
      upstream.connections -= 1;
      client.destroy();
    });
    client.on('close', () => socket.destroy());
    client.pipe(socket);
    socket.pipe(client);
    return;
  }
  client.destroy();
}

function open(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const failed = (): void => resolve(undefined);
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.off('error', failed);
      resolve(socket);
    });
  });
}
