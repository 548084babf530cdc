import { WebSocket } from 'ws';

/**
 * Follows runs over sockets, in a process of its own: reading thousands of frames would delay what the benchmark times.
 * Environment: `STREAMS` (URLs as a JSON list), `SOCKETS_PER_STREAM`. Sends `{ready: true}` when all are open.
 */
const urls = JSON.parse(process.env['STREAMS'] ?? '[]') as string[];
const each = Number(process.env['SOCKETS_PER_STREAM']);

const open = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    socket.once('open', resolve);
    socket.once('error', reject);
    socket.once('close', (code) => reject(new Error(`${url} closed with ${code}`)));
  });

/** Concurrent handshakes. The API must not count them as a flood. */
const AT_ONCE = 20;
const waiting = urls.flatMap((url) => Array.from({ length: each }, () => url));
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) await open(url);
  }),
);
process.send?.({ ready: true });
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) {
  process.once(signal, () => process.exit(0));
}
