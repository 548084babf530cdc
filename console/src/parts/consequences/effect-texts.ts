import type { Effect } from '#client/index.ts';
import { effect as text } from '#console/src/messages/en/consequences.ts';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { rangeText } from '#console/src/parts/text/range.ts';

/** What an effect does: what it calls or starts. */
export function actionText({ kind, tool = '', host }: Effect): string {
  if (kind === 'agent') return text.runsAgent;
  if (kind === 'workflow') return text.runsWorkflow;
  if (host === undefined) return text.runsTool(tool);
  return host === 'at_run_time' ? text.callsUnknownHost(tool) : text.calls(host, tool);
}

/** When, and how often, an effect happens: `always`, `only if amount > 5 is true`, `for each item, 3 to 10 times`. */
export function certaintyText({ certainty, conditions, executions }: Effect): string {
  const decides = conditions.map(conditionText);
  const [only, ...others] = decides;
  const when =
    only === undefined
      ? undefined
      : others.length === 0
        ? text.onlyIf(only)
        : text.dependsOn(decides.reduce(text.joined));
  if (certainty === 'certain') return text.always;
  if (certainty === 'conditional') return when ?? text.perhaps;
  const times = text.perItem(timesText(executions ?? { min: 0, max: null }));
  return when === undefined ? times : text.joined(times, when);
}

function conditionText({ node_id: node, when, expression }: Effect['conditions'][number]): string {
  if (expression !== undefined) return text.conditions[when](expression);
  if (when === 'true') return text.approved(node);
  return when === 'false' ? text.rejected(node) : text.conditions[when](node);
}

function timesText({ min, max }: { min: number; max: number | null }): string {
  if (max === null) return text.timesOrMore(countText(min));
  if (min !== max) return text.timesBetween(countText(min), countText(max));
  return min === 1 ? text.once : text.times(countText(min));
}

/** What one execution costs; undefined if it costs nothing. */
export const costText = ({ cost_usd: cost }: Effect): string | undefined =>
  cost.max === 0 ? undefined : text.costs(rangeText(cost, dollarsText));

/** A tool of an agent, with which of its calls need approval. */
export function mayCallText({ tool, approval }: NonNullable<Effect['may_call']>[number]): string {
  if (approval === 'always' || approval === 'never') return text.approvals[approval](tool);
  return text.approvals.if(tool, approval);
}
