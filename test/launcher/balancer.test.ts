import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { type Balancer, startBalancer } from '#scripts/cluster/balancer.ts';
import { freePorts } from '#scripts/stack/ports.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Upstream {
  port: number;
  ready: boolean;
  server: Server;
}

/** Answers with its name. Its readiness can be changed. */
async function startUpstream(name: string, port = 0): Promise<Upstream> {
  const server = createServer((incoming, outgoing) => {
    const refused = incoming.url === '/api/ready' && !upstream.ready;
    outgoing.writeHead(refused ? 503 : 200).end(name);
  });
  server.on('upgrade', (_request, socket) => {
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n',
    );
    socket.on('data', (chunk: Buffer) => socket.write(`${name} ${chunk.toString()}`));
    socket.on('end', () => socket.end());
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const upstream = { port: (server.address() as AddressInfo).port, ready: true, server };
  closers.push(() => end(upstream));
  return upstream;
}

const end = ({ server }: Upstream): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

async function balance(...ports: number[]): Promise<Balancer> {
  const balancer = await startBalancer({ host: '127.0.0.1', port: 0, ports });
  closers.push(() => balancer.close());
  return balancer;
}

/** On a connection of its own. */
async function ask({ port }: Balancer): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } });
  return answer.text();
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20);
}

test('spreads connections that are open at the same time', async () => {
  const [one, two] = [await startUpstream('one'), await startUpstream('two')];
  const balancer = await balance(one.port, two.port);
  const sockets = Array.from({ length: 6 }, () => connect(balancer.port, '127.0.0.1'));
  closers.push(() => sockets.forEach((socket) => socket.destroy()));
  const connections = (server: Server): Promise<number> =>
    new Promise((resolve) => server.getConnections((_error, count) => resolve(count)));
  await until(async () => {
    const counts = await Promise.all([one.server, two.server].map(connections));
    // Probes come and go.
    return counts.every((count) => count >= 3);
  });
});

test('sends nothing to a server until it is ready again', async () => {
  const [one, two] = [await startUpstream('one'), await startUpstream('two')];
  one.ready = false;
  const balancer = await balance(one.port, two.port);
  for (let request = 0; request < 5; request += 1) expect(await ask(balancer)).toBe('two');
  one.ready = true;
  two.ready = false;
  await until(async () => (await ask(balancer)) === 'one');
});

test('connects to another server while one is down, and to it again when it is back', async () => {
  const [one, two] = [await startUpstream('one'), await startUpstream('two')];
  const balancer = await balance(one.port, two.port);
  await end(one);
  for (let request = 0; request < 5; request += 1) expect(await ask(balancer)).toBe('two');
  await end(two);
  await expect(ask(balancer)).rejects.toThrow();
  await startUpstream('one', one.port);
  expect(await ask(balancer)).toBe('one');
});

test('closes the connections of a server that ends', async () => {
  const one = await startUpstream('one');
  const balancer = await balance(one.port);
  const socket = connect(balancer.port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  await new Promise((resolve) => socket.once('data', resolve));
  await end(one);
  await closed;
});

test('forwards upgraded connections in both directions', async () => {
  const one = await startUpstream('one');
  const balancer = await balance(one.port);
  const socket = connect(balancer.port, '127.0.0.1');
  closers.push(() => socket.destroy());
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  socket.write('GET / HTTP/1.1\r\nhost: x\r\nupgrade: echo\r\nconnection: upgrade\r\n\r\n');
  await until(async () => received.includes('101'));
  socket.write('hello');
  await until(async () => received.endsWith('one hello'));
});

test('refuses a port that is in use', async () => {
  const [port = 0] = await freePorts(1);
  const first = await startBalancer({ host: '127.0.0.1', port, ports: [] });
  closers.push(() => first.close());
  await expect(startBalancer({ host: '127.0.0.1', port, ports: [] })).rejects.toThrow('EADDRINUSE');
});
