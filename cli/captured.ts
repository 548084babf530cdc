import { Readable, Writable } from 'node:stream';
import { runCommand } from './run-command.ts';
import { withTerminal } from './terminal.ts';

/** How a command ended, with all that it printed. */
export interface Captured {
  code: number;
  stdout: string;
  stderr: string;
}

export interface CaptureOptions {
  input?: string;
  env: NodeJS.ProcessEnv;
  interrupted?: AbortSignal;
  /** Called with each part that the command prints, on either stream. */
  onOutput?: (text: string) => void;
}

/** Runs `ops` in this process, with streams and an environment of its own. */
export async function captureCommand(
  args: readonly string[],
  { input = '', env, interrupted, onOutput }: CaptureOptions,
): Promise<Captured> {
  const [stdout, stderr] = [collector(onOutput), collector(onOutput)];
  const stdin = Readable.from([Buffer.from(input)]);
  const code = await withTerminal(
    {
      stdin,
      stdout: stdout.stream,
      stderr: stderr.stream,
      env,
      ...(interrupted !== undefined && { interrupted }),
    },
    () => runCommand([...args]),
  );
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

function collector(onOutput?: (text: string) => void): { stream: Writable; text: () => string } {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write: (part: Buffer, _encoding, done) => {
      parts.push(part);
      onOutput?.(part.toString('utf8'));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString('utf8') };
}
