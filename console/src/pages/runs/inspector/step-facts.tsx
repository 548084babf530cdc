import type { ReactNode } from 'react';
import type { Run, Step } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { stepFacts as text } from '#console/src/messages/en/runs/inspector.ts';
import { durationText } from '#console/src/parts/text/duration.ts';
import { costText } from '#console/src/parts/text/cost.tsx';
import { countText, dollarsText } from '#console/src/parts/text/numbers.ts';
import { When } from '#console/src/parts/text/time.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';

/** The figures of a step. */
export function StepFacts({ run, step }: { run: Run; step: Step }) {
  const checkpoint = run.checkpoints.find(({ step_key }) => step_key === step.step_key);
  const facts: [string, ReactNode][] = [
    [text.key, <UserText>{step.step_key}</UserText>],
    [words.started, <When at={step.started_at} />],
  ];
  if (step.duration_ms !== null) facts.push([words.duration, durationText(step.duration_ms)]);
  if (step.queued_ms != null) facts.push([text.queued, durationText(step.queued_ms)]);
  if (step.retried_ms !== null && step.retried_ms > 0) {
    facts.push([text.failedAttempts, durationText(step.retried_ms)]);
  }
  if (step.model !== undefined) facts.push([words.model, <UserText>{step.model}</UserText>]);
  facts.push(...tokenFacts(step), [words.cost, stepCostText(step)]);
  if (checkpoint?.event_id != null) {
    facts.push([text.checkpoint, text.historyEvent(checkpoint.event_id)]);
  }
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

const stepCostText = ({ unpriced, cost_estimated: estimated, cost_usd: cost }: Step): string => {
  if (unpriced === true) return text.unpriced(costText({ usd: cost, unpriced: 1 }));
  return estimated === true ? text.atMost(dollarsText(cost)) : dollarsText(cost);
};

function tokenFacts({ usage }: Step): [string, string][] {
  if (usage === undefined) return [];
  const {
    input_tokens: given,
    output_tokens: written,
    cached_tokens: cached = 0,
    cache_write_tokens: stored = 0,
  } = usage;
  const facts: [string, string][] = [
    [text.tokens, text.inAndOut(countText(given), countText(written))],
  ];
  if (cached > 0) facts.push([text.cached, text.countOfTokens(countText(cached))]);
  if (stored > 0) facts.push([text.stored, text.countOfTokens(countText(stored))]);
  return facts;
}
