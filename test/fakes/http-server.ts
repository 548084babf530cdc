import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';

export interface Seen {
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface FakeServer {
  /** `http://127.0.0.1:<port>` */
  url: string;
  port: number;
  /** Fully read requests, oldest first. */
  seen: Seen[];
  /** The number of sockets opened so far. */
  connections: () => number;
  /** Lets the process end while the server is open. */
  unref: () => void;
  close: () => Promise<void>;
}

/** A real server on a free loopback port that passes each request, with its body read, to `answer`. */
export async function startHttpServer(
  answer: (request: Seen, response: ServerResponse) => void | Promise<void>,
): Promise<FakeServer> {
  const seen: Seen[] = [];
  const listener: RequestListener = (incoming, response) => {
    void read(incoming).then((request) => {
      seen.push(request);
      return answer(request, response);
    });
  };
  return { ...(await listen(createServer(listener))), seen };
}

/** A TCP server: `onSocket` writes the raw response. */
export async function startTcpServer(onSocket: (socket: Socket) => void): Promise<FakeServer> {
  return { ...(await listen(createTcpServer(onSocket))), seen: [] };
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function read(incoming: IncomingMessage): Promise<Seen> {
  let body = '';
  incoming.setEncoding('utf8');
  for await (const chunk of incoming) body += chunk as string;
  return {
    method: incoming.method ?? '',
    url: incoming.url ?? '',
    headers: incoming.headers,
    body,
  };
}

async function listen(server: Server): Promise<Omit<FakeServer, 'seen'>> {
  const sockets = new Set<Socket>();
  let opened = 0;
  server.on('connection', (socket: Socket) => {
    opened += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    connections: () => opened,
    unref: () => server.unref(),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
