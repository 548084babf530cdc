import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Proxy {
  port: number;
  /** `127.0.0.1:<port>` */
  address: string;
  /** Holds bytes from the client and new connections; existing connections stay open. */
  hold(): void;
  /** Holds bytes from the server; requests still arrive. */
  holdAnswers(): void;
  /** Forwards held bytes, in both directions. */
  release(): void;
  /** Breaks every connection and refuses new ones: the server is unreachable. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

/** A proxy to a server that a test can hold or cut, to simulate a crash at one exact moment. */
export async function startProxy(target: { host: string; port: number }): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let held = false;
  let answersHeld = false;
  let down = false;
  const waiting = new Set<() => void>();
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((client) => {
    track(client);
    if (down) client.destroy();
    else if (held) waiting.add(() => pipe(client));
    else pipe(client);
  });
  const pipe = (client: Socket): void => {
    if (client.destroyed) return;
    const upstream = connect(target);
    track(upstream);
    clients.add(client);
    upstreams.add(upstream);
    client.on('close', () => {
      clients.delete(client);
      upstreams.delete(upstream);
      upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
    client.on('data', (chunk) => upstream.write(chunk));
    upstream.on('data', (chunk) => client.write(chunk));
    if (answersHeld) upstream.pause();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const breakAll = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    port,
    address: `127.0.0.1:${port}`,
    hold: () => {
      held = true;
      clients.forEach((client) => client.pause());
    },
    holdAnswers: () => {
      answersHeld = true;
      upstreams.forEach((upstream) => upstream.pause());
    },
    release: () => {
      held = false;
      answersHeld = false;
      clients.forEach((client) => client.resume());
      waiting.forEach((start) => start());
      waiting.clear();
      upstreams.forEach((upstream) => upstream.resume());
    },
    cut: () => {
      down = true;
      breakAll();
    },
    restore: () => {
      down = false;
    },
    close: async () => {
      breakAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

export function hostAndPort(address: string): { host: string; port: number } {
  const url = new URL(address.includes('://') ? address : `tcp://${address}`);
  return { host: url.hostname, port: Number(url.port) };
}
