import type { Backtest, BacktestFinding } from '#client/index.ts';
import { decisions, sentences as text } from '#console/src/messages/en/governance/backtests.ts';

type Summary = Backtest['summary'];

const counted = (count: number, sentence: (count: number) => string): string[] =>
  count === 0 ? [] : [sentence(count)];

/** The counts in sentences, most important first. */
export function sentencesOf(summary: Summary): string[] {
  const { judged, hidden, would_block, would_redact, would_allow } = summary;
  const found = [
    ...counted(would_block, text.wouldBlock),
    ...counted(would_redact, text.wouldRedact),
    ...counted(would_allow, text.wouldAllow),
  ];
  return [
    ...(found.length > 0 ? found : [text.noDifference]),
    text.judged(judged),
    ...counted(hidden, text.hidden),
  ];
}

/** The decisions about a step: `Allowed → blocked`. */
export const changeText = ({ before, after }: BacktestFinding): string =>
  before === after
    ? decisions.decision[after]
    : decisions.changed(decisions.decision[before], decisions.newDecision[after]);
