import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Ending, exitCodes, misuse } from './endings.ts';
import { terminal } from './terminal.ts';

/** Prompts for a secret without showing it; without a terminal, reads the first line of standard input. */
export async function readSecret(question: string): Promise<string> {
  const secret = terminal().stdin.isTTY ? await ask('password', question) : await firstLine();
  if (secret === '') throw misuse(`${question} is missing`);
  return secret;
}

/**
 * Like `readSecret`, for a text that may have several lines: without a terminal, reads all of standard input except for
 * the last line break.
 */
export async function readSecretText(question: string): Promise<string> {
  const secret = terminal().stdin.isTTY
    ? await ask('password', question)
    : (await text(terminal().stdin)).replace(/\r?\n$/, '');
  if (secret === '') throw misuse(`${question} is missing`);
  return secret;
}

export async function readText(question: string): Promise<string> {
  if (!terminal().stdin.isTTY) throw misuse(`${question} is missing`);
  return ask('text', question);
}

/** Asks a question on a terminal; Enter alone means no. */
export const readYes = (question: string): Promise<boolean> => ask('confirm', question);

function ask(kind: 'password' | 'text', message: string): Promise<string>;
function ask(kind: 'confirm', message: string): Promise<boolean>;
async function ask(
  kind: 'password' | 'text' | 'confirm',
  message: string,
): Promise<string | boolean> {
  // Only loaded for a prompt, because it would slow down the start of every other command.
  const prompts = await import('@clack/prompts');
  const answer = await (kind === 'confirm'
    ? prompts.confirm({ message, output: terminal().stderr, initialValue: false })
    : prompts[kind]({ message, output: terminal().stderr }));
  if (prompts.isCancel(answer)) throw new Ending(exitCodes.interrupted);
  return answer;
}

function firstLine(): Promise<string> {
  const lines = createInterface({ input: terminal().stdin, crlfDelay: Infinity });
  return new Promise((resolve) => {
    lines.once('line', (line) => {
      resolve(line.trim());
      lines.close();
    });
    lines.once('close', () => resolve(''));
  });
}
