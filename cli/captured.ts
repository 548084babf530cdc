import { Readable, Writable } from 'node:stream';
import { runCommand } from './run-command.ts';
import { withTerminal } from './terminal.ts';

/** How a command ended, with all that it printed. */
export interface Captured {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `ops` in this process, with streams and an environment of its own. */
export async function captureCommand(
  args: readonly string[],
  { input = '', env }: { input?: string; env: NodeJS.ProcessEnv },
): Promise<Captured> {
  const [stdout, stderr] = [collector(), collector()];
  const stdin = Readable.from([Buffer.from(input)]);
  const code = await withTerminal(
    { stdin, stdout: stdout.stream, stderr: stderr.stream, env },
    () => runCommand([...args]),
  );
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collector(): { stream: Writable; text: () => string } {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write: (part: Buffer, _encoding, done) => {
      parts.push(part);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString('utf8') };
}
