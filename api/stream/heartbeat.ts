import type { WebSocket } from 'ws';
import type { App } from '../deps.ts';
import { MAX_BEHIND_BYTES } from './route.ts';

/**
 * Asks every WebSocket for a sign of life and drops those that gave none since the last time: a peer that is gone
 * without a word would hold its socket for ever.
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

// By hand, since answers to pings nobody reads pile up like frames do.
function answerPing(socket: WebSocket, data: Buffer): void {
  if (socket.bufferedAmount > MAX_BEHIND_BYTES) socket.terminate();
  else socket.pong(data);
}
