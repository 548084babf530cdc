import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { parse } from 'yaml';
import { fenced } from './markdown.ts';
import type { Ops } from './ops.ts';

/** A row of `ops apply --dry-run --json`. */
export const planRow = z.object({
  file: z.string(),
  name: z.string(),
  change: z.enum(['created', 'updated', 'unchanged']),
  difference: z.object({ settings: z.array(z.string()) }),
});
export type PlanRow = z.infer<typeof planRow>;

const file = z.object({
  id: z.string().optional(),
  graph: z.unknown().optional(),
  input_schema: z.unknown().optional(),
});
const saved = z.object({ etag: z.string() });

/** Whether past runs can be tried with it. */
export const canBeTried = ({ change, difference: { settings } }: PlanRow): boolean =>
  change === 'updated' && (settings.includes('graph') || settings.includes('input_schema'));

/**
 * Tries a changed graph on the last runs of its workflow, as a draft that is discarded afterward. A draft of someone else is
 * left as it is, and counts as a failure.
 */
export async function tryOnRuns(
  ops: Ops,
  row: PlanRow,
  runs: number,
): Promise<{ failed: boolean; text: string }> {
  const { id, graph, input_schema } = file.parse(parse(await readFile(row.file, 'utf8')));
  const workflow = id ?? row.name;
  if ((await ops(['drafts', 'show', workflow, '--json'])).code === 0) {
    return {
      failed: true,
      text: 'It has a draft already. Publish or discard it, so that the experiment can use one.',
    };
  }
  const draft = await ops(
    ['drafts', 'save', workflow, '-f', '-', '--json'],
    JSON.stringify({ graph, input_schema }),
  );
  if (draft.code !== 0) return { failed: true, text: fenced(draft.stderr) };
  const { etag } = saved.parse(JSON.parse(draft.stdout));
  try {
    const tried = await ops(['experiment', workflow, '--draft', '--last', String(runs)]);
    return { failed: tried.code !== 0, text: fenced(`${tried.stdout}${tried.stderr}`) };
  } finally {
    await ops(['drafts', 'discard', workflow, '--if-match', etag]);
  }
}
