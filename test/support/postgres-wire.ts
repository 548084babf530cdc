import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A moment on the way to Postgres, and what happens then. */
export interface Break {
  /**
   * A text that the statement holds, or `commit`: the COMMIT of a transaction that has written to the audit log, or a
   * statement that does so and commits by itself.
   */
  at: string;
  /** `sent`: the statement does not arrive. `answered`: it is carried out, and its answer does not arrive. */
  when: 'sent' | 'answered';
  /** Nobody comes through afterwards, until `mend`. */
  thenDown?: boolean;
}

export interface PostgresWire {
  /** The address of the database through the wire. */
  url: string;
  /** Breaks once. */
  breakAt(next: Break): void;
  /** Once the answer of the next commit has passed, nobody comes through until `mend`. */
  breakAfterCommit(): void;
  /** Whether what was asked for last has happened. */
  hasBroken(): boolean;
  mend(): void;
  close(): void;
}

/** A TCP proxy that understands so much of Postgres's protocol as to break at one exact statement. */
export async function startPostgresWire(databaseUrl: string): Promise<PostgresWire> {
  const target = new URL(databaseUrl);
  let next: Break | undefined;
  let afterCommit = false;
  let down = false;
  const sockets = new Set<Socket>();
  const cutAllBut = (spared: Socket) => {
    down = true;
    for (const socket of sockets) if (socket !== spared) socket.destroy();
  };
  const server = createServer((client) => {
    if (down) return void client.destroy();
    const upstream = connect(Number(target.port), target.hostname);
    sockets.add(client);
    const end = () => {
      client.destroy();
      upstream.destroy();
      sockets.delete(client);
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    const statementsOf = createReader();
    let inTransaction = false;
    let audits = false;
    let deaf = false;
    let isLast = false;
    client.on('data', (chunk: Buffer) => {
      for (const statement of statementsOf(chunk)) {
        if (/^\s*(START TRANSACTION|BEGIN)/i.test(statement)) {
          [inTransaction, audits] = [true, false];
        }
        audits ||= statement.includes('INSERT INTO audit_log');
        const commits = audits && (!inTransaction || /^\s*COMMIT/i.test(statement));
        if (/^\s*(COMMIT|ROLLBACK)/i.test(statement)) inTransaction = false;
        if (!inTransaction) audits = false;
        if (commits && afterCommit) {
          afterCommit = false;
          isLast = true;
        }
        if (next === undefined) continue;
        if (next.at === 'commit' ? !commits : !statement.includes(next.at)) continue;
        const { when, thenDown = false } = next;
        next = undefined;
        if (thenDown) cutAllBut(client);
        if (when === 'sent') return end();
        deaf = true;
      }
      return void upstream.write(chunk);
    });
    upstream.on('data', (chunk) => {
      if (deaf) return end();
      client.write(chunk);
      if (!isLast) return;
      // The answer arrives; whatever is asked next does not.
      cutAllBut(client);
      client.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    breakAt: (wanted) => {
      next = wanted;
    },
    breakAfterCommit: () => {
      afterCommit = true;
    },
    hasBroken: () => next === undefined,
    mend: () => {
      down = false;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Reads what a client sends, whole messages in order, and gives the text of each statement that is carried out. */
function createReader(): (chunk: Buffer) => string[] {
  let rest = Buffer.alloc(0);
  let started = false;
  const prepared = new Map<string, string>();
  const textAt = (body: Buffer, from: number) => body.toString('utf8', from, body.indexOf(0, from));
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const statements: string[] = [];
    for (;;) {
      // The first message has no type.
      const head = started ? 1 : 0;
      if (rest.length < head + 4) return statements;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return statements;
      const type = started ? String.fromCharCode(rest[0] ?? 0) : '';
      const body = rest.subarray(head + 4, length);
      rest = rest.subarray(length);
      started = true;
      const first = textAt(body, 0);
      const second = textAt(body, Buffer.byteLength(first) + 1);
      if (type === 'Q') statements.push(first);
      if (type === 'P') prepared.set(first, second);
      if (type === 'B') statements.push(prepared.get(second) ?? '');
    }
  };
}
