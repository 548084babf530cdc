import type { RunSummary } from '#client/index.ts';
import { rehearsal } from '#console/src/messages/en/parts/states.ts';
import { Tag } from './tag.tsx';

/** Marks a run whose results come from another run's record, and that has no effects. */
export function RehearsalTag({ mode }: Pick<RunSummary, 'mode'>) {
  return mode === null ? null : <Tag color="trial">{rehearsal}</Tag>;
}
