import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import { writeComment } from './comment.ts';
import { canBeTried, type PlanRow, planRow, tryOnRuns } from './experiments.ts';
import { type Inputs, readInputs } from './inputs.ts';
import { fenced, joined } from './markdown.ts';
import { type Ops, opsFor } from './ops.ts';

/** Prints a line that the runner reads. */
type Log = (line: string) => void;

/** A command to the runner: https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
function say(log: Log, command: 'error' | 'warning' | 'add-mask', text: string): void {
  const escaped = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  log(`::${command}::${escaped}`);
}

interface Result {
  code: number;
  changed: number;
  parts: string[];
}

/** Compares, tries and applies. What is wrong is in the parts, and the code is that of the command. */
async function run(ops: Ops, inputs: Inputs): Promise<Result> {
  const { folder, mode, publish, experiment } = inputs;
  const title = `### Workflow files in \`${folder.replaceAll('`', '')}\``;
  const wanted = ['apply', '-f', folder, ...(publish ? ['--publish'] : [])];
  const plan = await ops([...wanted, '--dry-run', '--json']);
  if (plan.code !== 0) {
    return { code: plan.code, changed: 0, parts: [title, fenced(plan.stderr)] };
  }
  const rows = z.array(planRow).parse(JSON.parse(plan.stdout));
  const changed = rows.filter(({ change }) => change !== 'unchanged').length;
  const shown = await ops([...wanted, '--dry-run']);
  const parts = [title, changed === 0 ? 'Nothing differs.' : fenced(shown.stdout)];
  const tried = experiment === 0 ? [] : await tryAll(ops, rows.filter(canBeTried), experiment);
  parts.push(...tried.map(({ text }) => text));
  if (tried.some(({ failed }) => failed)) return { code: 1, changed, parts };
  if (mode === 'apply') {
    const applied = await ops(wanted);
    parts.push('Applied:', fenced(`${applied.stdout}${applied.stderr}`));
    return { code: applied.code, changed, parts };
  }
  return { code: 0, changed, parts };
}

/** One after the other: each has its own budget of model calls. */
async function tryAll(ops: Ops, rows: readonly PlanRow[], runs: number) {
  const results: { failed: boolean; text: string }[] = [];
  for (const row of rows) {
    const { failed, text } = await tryOnRuns(ops, row, runs);
    const title = `Experiment, last ${runs} runs: ${failed ? 'failed' : 'passed'}`;
    results.push({ failed, text: joined([`**${title}**`, fenced(row.name), text]) });
  }
  return results;
}

function writeResult(
  { outputFile, summaryFile }: Pick<Inputs, 'outputFile' | 'summaryFile'>,
  { changed, text }: { changed: number; text: string },
): void {
  if (summaryFile !== undefined) appendFileSync(summaryFile, text);
  if (outputFile === undefined) return;
  const end = `end-${randomUUID()}`;
  appendFileSync(outputFile, `changed=${changed}\nsummary<<${end}\n${text}${end}\n`);
}

/**
 * Runs the action with the environment that GitHub gives it. Returns its exit code: that of `ops apply`, 1 if an experiment
 * failed, 2 for wrong inputs.
 */
export async function runAction(env: NodeJS.ProcessEnv, log: Log): Promise<number> {
  try {
    const inputs = readInputs(env);
    say(log, 'add-mask', inputs.apiKey);
    const { code, changed, parts } = await run(opsFor(inputs), inputs);
    const text = joined(parts);
    log(text);
    writeResult(inputs, { changed, text });
    await comment(inputs, text, log);
    if (code !== 0) {
      say(log, 'error', 'The workflow files cannot be applied as they are: see the summary');
    }
    return code;
  } catch (error) {
    say(log, 'error', messageOf(error));
    return 2;
  }
}

/** Whether the differences are right does not depend on a comment. */
async function comment(inputs: Inputs, text: string, log: Log): Promise<void> {
  if (inputs.comment === undefined) return;
  try {
    await writeComment(inputs.comment, inputs.folder, text);
  } catch (error) {
    say(log, 'warning', `The comment was not written: ${messageOf(error)}`);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');
