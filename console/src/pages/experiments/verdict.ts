import type { ListedExperiment } from '#client/index.ts';
import { experimentVerdict as text } from '#console/src/messages/en/workflows/experiments.ts';
import { countText } from '#console/src/parts/text/numbers.ts';

export interface Verdict {
  colour: 'danger' | 'warning' | 'success' | 'gray';
  title: string;
  /** What else has happened, in sentences. */
  notes: string[];
}

/** Whether a candidate can be published, as far as its experiment tells. Undefined until the experiment has ended. */
export function verdictOf({
  status,
  summary,
}: Pick<ListedExperiment, 'status' | 'summary'>): Verdict | undefined {
  if (status === 'running' || status === 'failed') return undefined;
  const { equal, changed, failed, unrecorded, refused, checks } = summary;
  const missing = unrecorded + refused;
  const compared = equal + changed + failed;
  const all = countText(compared + missing);
  const unknown = [
    ...(unrecorded > 0 ? [text.withoutResult(unrecorded)] : []),
    ...(refused > 0 ? [text.refused(refused)] : []),
  ];
  const [worst, ...others] = checks.broken;
  if (worst !== undefined) {
    const notes = [
      ...(others.length > 0 ? [text.othersBroken(others.length)] : []),
      ...(failed > 0 ? [text.alsoFail(failed)] : []),
      ...unknown,
    ];
    return {
      colour: 'danger',
      title: text.breaks(countText(worst.runs), all, worst.name),
      notes,
    };
  }
  if (failed > 0) {
    return { colour: 'danger', title: text.fails(countText(failed), all), notes: unknown };
  }
  if (compared === 0) {
    const title = missing > 0 ? text.nothing : text.noRuns;
    return { colour: 'gray', title, notes: unknown };
  }
  const good = missing > 0 ? 'warning' : 'success';
  if (changed === 0) {
    return { colour: good, title: text.same(compared), notes: unknown };
  }
  if (checks.total > 0) {
    const title = checks.won === 0 ? text.fine : text.fixed(countText(checks.won));
    return { colour: good, title, notes: unknown };
  }
  return { colour: 'warning', title: text.differs(countText(changed), all), notes: unknown };
}
