import type { WebSocket } from 'ws';
import type { App } from '#api/deps.ts';
import { MAX_BEHIND_BYTES } from './limits.ts';

/**
 * Pings every WebSocket and closes those that did not respond since the last ping: the socket of a peer that disappeared
 * would stay open forever.
 */
export function dropDeadSockets(app: App, everyMs: number): void {
  const asked = new WeakSet<WebSocket>();
  let timer: NodeJS.Timeout | undefined;
  app.addHook('onReady', async () => {
    const { websocketServer } = app;
    websocketServer.on('connection', (socket) => {
      socket.on('pong', () => asked.delete(socket));
      socket.on('ping', (data) => answerPing(socket, data));
    });
    timer = setInterval(() => {
      for (const socket of websocketServer.clients) {
        if (asked.has(socket)) socket.terminate();
        else {
          asked.add(socket);
          socket.ping();
        }
      }
    }, everyMs);
    timer.unref();
  });
  app.addHook('onClose', async () => clearInterval(timer));
}

// Checked here, because unread pongs accumulate like frames.
function answerPing(socket: WebSocket, data: Buffer): void {
  if (socket.bufferedAmount > MAX_BEHIND_BYTES) socket.terminate();
  else socket.pong(data);
}
