import { spawn } from 'node:child_process';

// Plain JavaScript without dependencies, like all of the set-up: it installs them.

/** A step that cannot be done on this machine (no network, no compiler). Its text is for the user. */
export class SetupError extends Error {}

/**
 * Runs a command, captures its output for errors, and shows the elapsed seconds: in place on a terminal, a line every
 * 15 s elsewhere. A signal that ends this process first ends the command and everything that it started, because a
 * package manager that continues would block the next start.
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
    const child = spawn(command, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const release = endWith(child);
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    const overdue =
      timeoutMs === undefined ? undefined : setTimeout(() => killGroup(child), timeoutMs);
    /** @param {string} reason */
    const fail = (reason) => {
      clearInterval(ticker);
      clearTimeout(overdue);
      release();
      process.stdout.write(terminal ? '\n' : '');
      reject(new SetupError(`${label}: ${reason}\n${excerpt(output)}`));
    };
    child.once('error', (error) => fail(error.message));
    child.once('close', (code, signal) => {
      if (code !== 0) return fail(signal === null ? `exit code ${code}` : `ended by ${signal}`);
      clearInterval(ticker);
      clearTimeout(overdue);
      release();
      process.stdout.write(
        terminal ? `\r${label} ... done in ${seconds()}\n` : `${label} ... done in ${seconds()}\n`,
      );
      resolve();
    });
  });
}

const SHOWN_LINES = 20;

/**
 * The first and last lines: many tools print the reason first and its consequences last.
 * @param {Buffer[]} output
 */
function excerpt(output) {
  const lines = Buffer.concat(output).toString('utf8').trim().split('\n');
  const left = lines.length - 2 * SHOWN_LINES;
  if (left <= 0) return lines.join('\n');
  return [
    ...lines.slice(0, SHOWN_LINES),
    `... ${left} lines ...`,
    ...lines.slice(-SHOWN_LINES),
  ].join('\n');
}

/** @param {import('node:child_process').ChildProcess} child */
function killGroup(child) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

/**
 * Ends the command when a signal ends this process. Returns a function that stops this.
 * @param {import('node:child_process').ChildProcess} child
 */
function endWith(child) {
  const signals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);
  /** @param {NodeJS.Signals} signal */
  const end = (signal) => {
    release();
    killGroup(child);
    // As if nothing had handled it.
    process.kill(process.pid, signal);
  };
  const release = () => {
    for (const signal of signals) process.off(signal, end);
  };
  for (const signal of signals) process.once(signal, end);
  return release;
}
