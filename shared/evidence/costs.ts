import { toDollars, toMicros } from '#shared/money/money.ts';
import { costOf } from '#shared/money/prices.ts';
import type { EvidenceFile, Placed } from './file.ts';
import type { Report } from './problem.ts';

type Step = Placed<'step'>['step'];

const costOfAttempts = ({ attempts }: Step): number =>
  attempts.reduce((sum, { cost_usd }) => sum + toMicros(cost_usd), 0);

/** Checks that the costs of attempts add up, and follow from their tokens and prices. Returns how many prices it used. */
export function verifyCosts({ head, steps }: EvidenceFile, report: Report): number {
  const parts = new Map<string, number>();
  let total = 0;
  let priced = 0;
  for (const { step } of steps) {
    const own = costOfAttempts(step);
    total += own;
    const { parent_step_key: agent } = step;
    if (agent !== undefined) parts.set(agent, (parts.get(agent) ?? 0) + own);
  }
  for (const { step, line } of steps) {
    const expected = costOfAttempts(step) + (parts.get(step.step_key) ?? 0);
    if (toMicros(step.cost_usd) !== expected) {
      const sum = toDollars(expected);
      report(
        line,
        `step ${step.step_key}: cost_usd`,
        `its attempts cost ${sum}, not ${step.cost_usd}`,
      );
    }
    if (!parts.has(step.step_key) && verifyPrice(step, line, report)) priced += 1;
  }
  if (toMicros(head.run.cost_usd) !== total) {
    const { cost_usd } = head.run;
    report(head.line, 'run: cost_usd', `its steps cost ${toDollars(total)}, not ${cost_usd}`);
  }
  return priced;
}

/** Compares the cost of the attempt that succeeded with its tokens and price. Returns whether the price is known. */
function verifyPrice(step: Step, line: number, report: Report): boolean {
  const { usage, attempts, status, cost_estimated: estimated } = step;
  const last = attempts.at(-1);
  if (usage?.price === undefined || status !== 'success' || estimated === true) return false;
  // The late cost of an attempt whose worker was lost can be part of the last one.
  if (last === undefined || attempts.some(({ outcome }) => outcome === 'interrupted')) return false;
  const { price } = usage;
  const rate = {
    inputUsd: price.input_usd_per_million,
    outputUsd: price.output_usd_per_million,
    cachedInputUsd: price.cached_input_usd_per_million,
  };
  const cost = costOf(rate, usage);
  if (toMicros(last.cost_usd) !== cost) {
    const path = `step ${step.step_key}: attempt ${last.attempt}`;
    report(line, path, `its tokens cost ${toDollars(cost)} at its price, not ${last.cost_usd}`);
  }
  return true;
}
