import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '#test/storm/people.ts';
import { verifyText } from '#test/support/evidence.ts';
import { type Check, createFinding } from './check.ts';
import type { Evidence, Proof, RunRow } from './evidence.ts';

/** The number of runs whose evidence is verified. */
const MOST = 1_000;
/** As many as the service sends to one workspace at a time. */
const READ_AT_ONCE = 2;
const PAUSE_MS = 50;

/** Verifies the evidence of finished runs, as many as there is time for. */
export async function readProofs(
  baseUrl: string,
  owner: Person,
  { runs, until }: { runs: readonly RunRow[]; until: number },
): Promise<Proof[]> {
  const proofs: Proof[] = [];
  const left = runs
    .filter(({ status }) => status === 'success' || status === 'failed')
    .slice(0, MOST)
    .map(({ id }) => id);
  await Promise.all(
    Array.from({ length: READ_AT_ONCE }, async () => {
      while (Date.now() < until) {
        const id = left.pop();
        if (id === undefined) return;
        const url = `${baseUrl}/api/runs/${id}/evidence?contents=true`;
        const response = await fetch(url, { headers: owner.headers });
        const text = await response.text();
        if (response.status === 503) {
          left.push(id);
          await sleep(PAUSE_MS);
          continue;
        }
        const { proven, problems } = verifyText(text);
        proofs.push({
          ...{ id, proven },
          problems: problems.map(({ line, path, problem }) => `line ${line}, ${path}: ${problem}`),
        });
      }
    }),
  );
  return proofs;
}

/** The evidence of each run holds. */
export const proofs: Check = ({ proofs: found = [], db }: Evidence) => {
  const finding = createFinding();
  const rows = new Map(db.runs.map((run) => [run.id, run]));
  for (const { id, proven, problems } of found) {
    const expected = 'evidence in which everything follows';
    finding.expect(proven === 'consistent', id, expected, problems, rows.get(id)?.created_at);
  }
  return finding;
};
