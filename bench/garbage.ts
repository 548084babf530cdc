import { WebSocket } from 'ws';

interface Message {
  id?: number;
  method?: string;
  params?: { sessionId?: string; message?: string };
}

/**
 * Makes a Node process with a debugger on this port collect garbage in its main thread and its worker threads. Without
 * this, V8 grows the heap while memory is free, so heap size says nothing about retained objects.
 */
export async function collectGarbage(port: number): Promise<void> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  const socket = new WebSocket(targets[0]?.webSocketDebuggerUrl ?? '');
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const threads: string[] = [];
  const waiting = new Map<number, () => void>();
  const receive = (text: string): void => {
    const message = JSON.parse(text) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.();
    const { sessionId, message: inner } = message.params ?? {};
    if (message.method === 'NodeWorker.attachedToWorker' && sessionId) threads.push(sessionId);
    if (message.method === 'NodeWorker.receivedMessageFromWorker' && inner) receive(inner);
  };
  socket.on('message', (data: Buffer) => receive(data.toString('utf8')));
  let last = 0;
  const send = (method: string, params: object = {}): Promise<void> => {
    last += 1;
    const id = last;
    socket.send(JSON.stringify({ id, method, params }));
    return answered(id);
  };
  const answered = (id: number): Promise<void> =>
    new Promise((resolve) => {
      waiting.set(id, resolve);
    });
  // Existing threads are announced before the response.
  await send('NodeWorker.enable', { waitForDebuggerOnStart: false });
  await send('HeapProfiler.collectGarbage');
  for (const sessionId of threads) {
    last += 1;
    const message = JSON.stringify({ id: last, method: 'HeapProfiler.collectGarbage' });
    const collected = answered(last);
    await send('NodeWorker.sendMessageToWorker', { sessionId, message });
    await collected;
  }
  socket.close();
}
