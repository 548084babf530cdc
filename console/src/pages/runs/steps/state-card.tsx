import type { Step } from '#client/index.ts';
import type { NodeCardData } from '#console/src/graph/node-card.tsx';
import { failedCount } from '#console/src/messages/en/parts/states.ts';
import { statuses } from '#console/src/messages/en/parts/values.ts';
import type { Tally } from '#console/src/pages/runs/items.ts';
import { StateBadge } from '#console/src/parts/state-badge.tsx';
import { stateColours } from '#console/src/theme.ts';
import { shownState } from './step-state.ts';

/** The step that represents all steps of a node, in order of their iterations: an open one, or else the last. */
export const aggregateOf = (steps: readonly Step[]): Step | undefined =>
  steps.find(({ status }) => status === 'running') ??
  steps.find(({ status }) => status === 'paused') ??
  steps.at(-1);

/** The card of a node whose steps a run has started. Failed items are always part of it. */
export function stateCard(
  step: Step | undefined,
  {
    tally,
    detail,
    spoken = detail,
  }: { tally: Tally | undefined; detail: string | undefined; spoken?: string | undefined },
): Partial<NodeCardData> {
  if (step === undefined) return {};
  const state = shownState(step);
  const failed = tally?.failed ?? 0;
  return {
    colour:
      failed > 0 ? stateColours.failed : state === 'skipped' ? undefined : stateColours[state],
    faded: failed === 0 && state === 'skipped',
    mark: <StateBadge state={state} failed={failed} size="xs" />,
    detail,
    failedShare:
      tally === undefined || failed === 0 ? undefined : failed / Math.max(tally.total, failed),
    spoken: [statuses[state], spoken, failed > 0 && failedCount(failed)].filter(Boolean).join(', '),
  };
}
