import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type EvidenceVerification, verifyEvidence } from '#shared/evidence/verify.ts';
import type { Sha256 } from '#shared/evidence/problem.ts';
import { Ending, exitCodes, misuse, refusal } from '#cli/endings.ts';
import type { Output } from '#cli/output.ts';
import { inSession, openOutput } from '#cli/session.ts';
import { terminal } from '#cli/terminal.ts';

export function evidenceCommands(program: Command): void {
  const evidence = program
    .command('evidence')
    .description('export what proves how a run went, and verify it without the service');

  evidence
    .command('export', { isDefault: true })
    .argument('<run>')
    .description('print the evidence of a run')
    .option('--contents', 'with inputs, outputs and the state, and not only their digests')
    .action(
      inSession<{ contents?: true }>(async ({ client }, [runId = ''], { contents = false }) => {
        terminal().stdout.write(await client.exportEvidence(runId, { contents }));
      }),
    );

  evidence
    .command('verify')
    .argument('<file>')
    .description('verify a file by itself; code 1 when something in it does not follow')
    .option('--head <hash>', 'the newest seal of the audit log as you stored it, sha256:...')
    .action(async (file: string, { head }: { head?: string }, command: Command) => {
      const verification = verifyEvidence(await readText(file), {
        sha256,
        head: head === undefined ? undefined : hashIn(head),
      });
      print(openOutput(command), verification);
      if (verification.problems.length > 0) throw new Ending(exitCodes.refused);
    });
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw refusal(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** The hash in `sha256:...`, or in a head as `audit:verify` prints it: workspace, position and hash. */
function hashIn(head: string): string {
  const hash = /^(?:sha256:|\w+:\d+:)?([0-9a-f]{64})$/.exec(head)?.[1];
  if (hash === undefined) throw misuse('--head must be sha256: and 64 hexadecimal digits');
  return hash;
}

const sha256: Sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) {
    if ('hex' in part) hash.update(part.hex, 'hex');
    else hash.update(part.text, 'utf8');
  }
  return hash.digest('hex');
};

const proofs = {
  complete:
    'Proven: the file is consistent, and the audit log up to the given head has its entries.',
  consistent:
    'Proven: the file is consistent. Without --head, someone who can rewrite the whole database could have made it.',
  nothing: 'Proven: nothing, because something in the file does not follow from the rest.',
};

function print(output: Output, verification: EvidenceVerification): void {
  if (output.format === 'json') return output.record(verification);
  for (const { line, path, problem } of verification.problems) {
    output.line(`Line ${line}, ${path}: ${problem}`);
  }
  const checked = Object.entries(verification.checked).map(([name, count]) => `${count} ${name}`);
  if (checked.length > 0) output.line(`Checked: ${checked.join(', ')}`);
  for (const note of verification.notes) output.line(`Not checked: ${note}`);
  output.line(proofs[verification.proven]);
}
