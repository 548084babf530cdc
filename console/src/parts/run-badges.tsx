import type { RunSummary } from '#client/index.ts';
import { draft, rehearsal } from '#console/src/messages/en/parts/states.ts';
import { StateBadge } from './state-badge.tsx';
import { Tag } from './tag.tsx';

type StatedRun = Pick<RunSummary, 'status' | 'failure'> & Partial<Pick<RunSummary, 'queued'>>;

/** The displayed state of a run: one that waits because of a limit is queued, and one that a person cancelled or a budget stopped has not failed by itself. */
export function runState({ status, failure, queued }: StatedRun) {
  if (status !== 'failed') return queued == null ? status : 'queued';
  if (failure?.kind === 'cancelled') return 'cancelled';
  return failure?.kind === 'budget' ? 'overBudget' : 'failed';
}

export const RunBadge = ({ run }: { run: StatedRun }) => <StateBadge state={runState(run)} />;

/** Marks a rehearsal, whose results come from another run's record and that has no effects, and a run of a draft. */
export function RunTags({
  run: { mode, of_draft },
}: {
  run: Pick<RunSummary, 'mode' | 'of_draft'>;
}) {
  return (
    <>
      {mode !== null && <Tag color="trial">{rehearsal}</Tag>}{' '}
      {of_draft && <Tag color="gray">{draft}</Tag>}
    </>
  );
}
