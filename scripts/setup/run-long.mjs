import { spawn } from 'node:child_process';

// Plain JavaScript without dependencies, like all of the set-up: it installs them.

/** A step that cannot be done here (no network, no compiler); its text is for the user. */
export class SetupError extends Error {}

/**
 * Runs a command, captures its output for errors, and shows the elapsed seconds: in place on a terminal, a line every
 * 15 s elsewhere.
 * @param {string} label
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, timeoutMs?: number }} options
 * @returns {Promise<void>}
 */
export function runLong(label, command, args, { timeoutMs, ...options }) {
  const started = Date.now();
  const terminal = process.stdout.isTTY;
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(0)} s`;
  process.stdout.write(terminal ? `${label} ...` : `${label} ...\n`);
  const ticker = setInterval(
    () =>
      process.stdout.write(
        terminal ? `\r${label} ... ${seconds()}` : `${label} ... ${seconds()}\n`,
      ),
    terminal ? 1_000 : 15_000,
  );
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const output = [];
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    const overdue =
      timeoutMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    /** @param {string} reason */
    const fail = (reason) => {
      clearInterval(ticker);
      clearTimeout(overdue);
      process.stdout.write(terminal ? '\n' : '');
      const tail = Buffer.concat(output).toString('utf8').trim().split('\n').slice(-20).join('\n');
      reject(new SetupError(`${label}: ${reason}\n${tail}`));
    };
    child.once('error', (error) => fail(error.message));
    child.once('close', (code, signal) => {
      if (code !== 0) return fail(signal === null ? `exit code ${code}` : `ended by ${signal}`);
      clearInterval(ticker);
      clearTimeout(overdue);
      process.stdout.write(
        terminal ? `\r${label} ... done in ${seconds()}\n` : `${label} ... done in ${seconds()}\n`,
      );
      resolve();
    });
  });
}
