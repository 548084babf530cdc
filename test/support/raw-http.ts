import { connect, type Socket } from 'node:net';

export interface RawConnection {
  socket: Socket;
  /** Everything received so far. */
  text(): string;
  /** Resolves when the pattern arrives; rejects if the connection ends first. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves when the connection has closed, with everything received and the time since it was opened. */
  closed: Promise<{ text: string; ms: number }>;
}

/** A client that sends raw bytes: as slow, many or invalid as a test needs. */
export function openConnection(port: number, options: { onRead?: 'never' } = {}): RawConnection {
  const opened = performance.now();
  const socket = connect(port, '127.0.0.1');
  let text = '';
  const checks = new Set<() => void>();
  if (options.onRead !== 'never') {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (const check of checks) check();
    });
  }
  // Tests check how it ends; a reset is also an end.
  socket.on('error', () => undefined);
  const closed = new Promise<{ text: string; ms: number }>((resolve) =>
    socket.on('close', () => resolve({ text, ms: performance.now() - opened })),
  );
  const until = async (pattern: RegExp): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const check = () => {
      if (pattern.test(text)) resolve(text);
    };
    checks.add(check);
    check();
    const ended = closed.then(() => {
      if (pattern.test(text)) return text;
      throw new Error(`The connection ended without ${String(pattern)}: ${text.slice(0, 500)}`);
    });
    return Promise.race([promise, ended]);
  };
  return { socket, text: () => text, until, closed };
}

/** Writes one byte at a time until the text is sent or the connection has closed. */
export async function trickle(socket: Socket, text: string, everyMs: number): Promise<void> {
  for (const byte of text) {
    if (socket.destroyed || !socket.writable) return;
    socket.write(byte);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** The head of a WebSocket handshake; `headers` can break it. */
export const handshake = (path: string, headers: Record<string, string> = {}): string =>
  requestHead('GET', path, {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  });

export const requestHead = (
  method: string,
  path: string,
  headers: Record<string, string> = {},
): string =>
  [
    `${method} ${path} HTTP/1.1`,
    'host: 127.0.0.1',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ].join('\r\n');
