import { canonicalJson } from '#shared/values/canonical-json.ts';
import type { EvidenceFile } from './file.ts';
import type { Report } from './problem.ts';

/** Verdicts that no step has: of budgets and of people. */
const WITHOUT_STEP = new Set(['budget_blocked', 'approval_override_granted']);

/**
 * Checks that steps have the verdicts of the policies, and the policies those of the steps. `partly`: retention may have
 * removed some.
 */
export function verifyVerdicts(
  { steps, verdicts, head }: EvidenceFile,
  partly: boolean,
  report: Report,
): void {
  const recorded = new Set(verdicts.map(({ node_id, verdict }) => keyOf(node_id, verdict)));
  const ofSteps = new Set<string>();
  for (const { step, line } of steps) {
    for (const verdict of step.policy) {
      const key = keyOf(step.node_id, verdict);
      ofSteps.add(key);
      if (recorded.has(key) || partly || step.reused_from !== undefined) continue;
      report(line, `step ${step.step_key}: policy`, 'no policy has decided this');
    }
  }
  let revision = 0;
  for (const { line, node_id, verdict, revision: next } of verdicts) {
    if (next !== null && next < revision) {
      report(line, 'verdict: revision', 'an earlier verdict has a later revision of the policies');
    }
    revision = next ?? revision;
    // A resume replaces the verdicts of earlier attempts.
    if (WITHOUT_STEP.has(verdict.type) || head.run.resumed_count > 0) continue;
    if (!ofSteps.has(keyOf(node_id, verdict))) {
      report(line, `verdict about ${node_id}`, 'no step has it');
    }
  }
}

const keyOf = (nodeId: string | null, verdict: object): string => canonicalJson([nodeId, verdict]);
