import { createHash } from 'node:crypto';
import type { Pool } from '#shared/db/pool.ts';
import { withEvidence } from '#shared/operations/evidence/evidence.ts';
import type { Sha256 } from '#shared/evidence/problem.ts';
import { type EvidenceVerification, verifyEvidence } from '#shared/evidence/verify.ts';

const sha256: Sha256 = (...parts) => {
  const hash = createHash('sha256');
  for (const part of parts) {
    hash.update('hex' in part ? Buffer.from(part.hex, 'hex') : Buffer.from(part.text));
  }
  return hash.digest('hex');
};

/** Verifies the evidence of a run as `ops evidence verify` does. */
export const verifyText = (text: string, head?: string): EvidenceVerification =>
  verifyEvidence(text, { sha256, head });

/** The evidence of a run with its contents, as someone sees it who can decide gates. */
export async function evidenceText(db: Pool, workspaceId: string, runId: string): Promise<string> {
  const parts: string[] = [];
  await withEvidence(
    db,
    {
      ...{ workspaceId, runId, contents: true, hides: false },
      shownSteps: (steps) => steps,
      shownGate: (gate) => gate,
    },
    async (text) => {
      for await (const part of text) parts.push(part);
    },
  );
  return parts.join('');
}

/** The file with other lines, and the digest that someone who knows the format would give it. */
export function rewritten(text: string, change: (lines: any[]) => any[]): string {
  const lines = text
    .trimEnd()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);
  const changed = change(lines).map((line) => `${JSON.stringify(line)}\n`);
  const digest = `sha256:${sha256(...changed.map((each) => ({ text: each })))}`;
  return `${changed.join('')}${JSON.stringify({ kind: 'end', lines: changed.length, digest })}\n`;
}
