import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import { writeComment } from './comment.ts';
import { canBeTried, type PlanRow, planRow, tryOnRuns } from './experiments.ts';
import { type Inputs, readInputs } from './inputs.ts';
import { fenced, joined } from './markdown.ts';
import { type Ops, opsFor } from './ops.ts';

/** A command to the runner: https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
function say(command: 'error' | 'warning' | 'add-mask', text: string): void {
  const escaped = text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  console.log(`::${command}::${escaped}`);
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

async function main(): Promise<number> {
  const inputs = readInputs(process.env);
  say('add-mask', inputs.apiKey);
  const { code, changed, parts } = await run(opsFor(inputs), inputs);
  const text = joined(parts);
  console.log(text);
  writeResult(inputs, { changed, text });
  if (inputs.comment !== undefined) {
    try {
      await writeComment(inputs.comment, inputs.folder, text);
    } catch (error) {
      say('warning', `The comment was not written: ${messageOf(error)}`);
    }
  }
  if (code !== 0) say('error', 'The workflow files cannot be applied as they are: see the summary');
  return code;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown');

try {
  process.exitCode = await main();
} catch (error) {
  say('error', messageOf(error));
  process.exitCode = 2;
}
