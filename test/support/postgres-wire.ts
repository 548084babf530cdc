import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Where the connection to Postgres breaks, and how. */
export interface Break {
  /**
   * A text in the statement, or `commit`: the COMMIT of a transaction that has written to the audit log, or such a
   * statement outside a transaction. An admission writes to it, too. A function receives each statement as
   * `takeStatements` returns it, until it returns true.
   */
  at: string | ((statement: string) => boolean);
  /** `sent`: the statement does not arrive. `answered`: it is executed, and its response does not arrive. */
  when: 'sent' | 'answered';
  /** Refuses all connections afterward, until `mend`. */
  thenDown?: boolean;
}

export interface Executed {
  /** A COMMIT names the statement before it. */
  text: string;
  /** Whether it is in a transaction that a later statement commits. */
  pending: boolean;
}

export interface PostgresWire {
  /** The URL of the database through the proxy. */
  url: string;
  /** Breaks once. */
  breakAt(next: Break): void;
  /** After the response of the next commit, all connections are refused until `mend`. */
  breakAfterCommit(): void;
  /** Whether the last requested break has happened. */
  hasBroken(): boolean;
  mend(): void;
  /** The requested break does not happen. */
  cancelBreak(): void;
  /** The statements since the last call, in order. */
  takeStatements(): Executed[];
  close(): void;
}

/** A TCP proxy that understands enough of Postgres's protocol to break at one exact statement. */
export async function startPostgresWire(databaseUrl: string): Promise<PostgresWire> {
  const target = new URL(databaseUrl);
  let next: Break | undefined;
  let afterCommit = false;
  let down = false;
  let executed: Executed[] = [];
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
    let previous = '';
    let deaf = false;
    let isLast = false;
    client.on('data', (chunk: Buffer) => {
      for (const statement of statementsOf(chunk)) {
        const named = statement === 'COMMIT' ? `COMMIT after ${previous}` : statement;
        previous = statement;
        if (/^\s*(START TRANSACTION|BEGIN)/i.test(statement)) {
          [inTransaction, audits] = [true, false];
        }
        audits ||= /INSERT INTO audit_log|admit_run_\d+\(/.test(statement);
        const commits = audits && (!inTransaction || /^\s*COMMIT/i.test(statement));
        if (/^\s*(COMMIT|ROLLBACK)/i.test(statement)) inTransaction = false;
        if (!inTransaction) audits = false;
        executed.push({ text: named, pending: inTransaction });
        if (commits && afterCommit) {
          afterCommit = false;
          isLast = true;
        }
        if (next === undefined) continue;
        if (!isAt(next, named, commits)) continue;
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
      // This response arrives; later requests fail.
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
    cancelBreak: () => {
      next = undefined;
    },
    mend: () => {
      down = false;
    },
    takeStatements: () => {
      const taken = executed;
      executed = [];
      return taken;
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function isAt({ at }: Break, statement: string, commits: boolean): boolean {
  if (typeof at === 'function') return at(statement);
  return at === 'commit' ? commits : statement.includes(at);
}

/** Reads whole client messages in order, and returns the text of each executed statement. */
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
