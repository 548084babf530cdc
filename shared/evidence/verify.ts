import { graphSchema } from '#shared/contract/workflows/graph.ts';
import { type CompiledGraph, compileGraph } from '#shared/graph/compile.ts';
import type { Json } from '#shared/json.ts';
import { type VerifiedChain, verifyChain } from './chain.ts';
import { verifyCosts } from './costs.ts';
import { verifyDecisions } from './decisions.ts';
import { verifyEffects } from './effects.ts';
import { type EvidenceFile, readEvidence } from './file.ts';
import { digestOf, type EvidenceProblem, type Report, type Sha256 } from './problem.ts';
import { verifyReplay } from './replay.ts';
import { verifyVerdicts } from './verdicts.ts';

/** What was found out about the evidence of a run. */
export interface EvidenceVerification {
  /**
   * `complete`: the log that is sealed by the given head has what the file says. `consistent`: nothing in the file
   * contradicts the rest. `nothing`: something does.
   */
  proven: 'complete' | 'consistent' | 'nothing';
  runId: string | undefined;
  problems: EvidenceProblem[];
  /** What was not checked, and why. */
  notes: string[];
  /** How many things were checked, by kind. */
  checked: Record<string, number>;
}

/** More are counted, but not listed. */
const MAX_PROBLEMS = 100;

/**
 * Verifies the evidence of a run by itself. `head`: the hash of a seal, in hexadecimal, that was stored somewhere else
 * when it was the newest one.
 */
export function verifyEvidence(
  text: string,
  { sha256, head: noted }: { sha256: Sha256; head?: string | undefined },
): EvidenceVerification {
  const problems: EvidenceProblem[] = [];
  const report: Report = (line, path, problem) => {
    problems.push({ line, path, problem });
  };
  const notes: string[] = [];
  const file = readEvidence(text, sha256, report);
  if (file === undefined) {
    return { proven: 'nothing', runId: undefined, problems, notes, checked: {} };
  }
  const chain = verifyChain(file, sha256, report);
  const checked = verifyRun(file, chain, { sha256, report, notes });
  notes.push(...notesAbout(file, chain));
  const holds = noted === undefined || verifyHead(file, chain, { noted, report, notes });
  const listed = problems.toSorted((one, other) => one.line - other.line).slice(0, MAX_PROBLEMS);
  const more = problems.length - listed.length;
  if (more > 0) notes.push(`${more} more problems are not listed.`);
  const proven = noted !== undefined && holds ? 'complete' : 'consistent';
  return {
    proven: problems.length > 0 ? 'nothing' : proven,
    runId: file.head.run.id,
    problems: listed,
    notes,
    checked,
  };
}

interface Verifying {
  sha256: Sha256;
  report: Report;
  notes: string[];
}

function verifyRun(
  file: EvidenceFile,
  chain: VerifiedChain,
  { sha256, report, notes }: Verifying,
): Record<string, number> {
  const partly = file.chain.swept;
  const graph = graphOf(file, report);
  const digests = verifyContents(file, sha256, report);
  const decisions = verifyDecisions(file, { entries: chain.entries, partly }, { sha256, report });
  const prices = verifyCosts(file, report);
  verifyVerdicts(file, partly, report);
  let [inputs, effects] = [0, 0];
  if (graph !== undefined) {
    effects = verifyEffects(file, graph, report);
    if (file.head.contents) inputs = replayed(file, graph, { report, notes });
  }
  return {
    ...{ steps: file.steps.length, digests, inputs, decisions, effects, prices },
    ...{ verdicts: file.verdicts.length, entries: chain.entries.length },
    seals: chain.hashes.size - 1,
  };
}

function replayed(
  file: EvidenceFile,
  graph: CompiledGraph,
  { report }: Pick<Verifying, 'report' | 'notes'>,
): number {
  try {
    return verifyReplay(file, graph, report);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    report(file.results.line, 'the results', `the graph cannot be executed with them: ${reason}`);
    return 0;
  }
}

function graphOf({ graph }: EvidenceFile, report: Report): CompiledGraph | undefined {
  const read = graphSchema.safeParse(graph.graph);
  if (read.success) {
    try {
      return compileGraph(read.data);
    } catch {
      // Reported below, like every graph that cannot run.
    }
  }
  report(graph.line, 'graph', 'it cannot be executed');
  return undefined;
}

/** Compares the contents with their digests. Returns how many. */
function verifyContents({ head, steps }: EvidenceFile, sha256: Sha256, report: Report): number {
  if (!head.contents) return 0;
  let count = 0;
  const compare = (line: number, path: string, digest: string | null, value: Json): void => {
    count += 1;
    const of = digest === null && value === null ? null : digestOf(sha256, value);
    if (of !== digest) report(line, path, 'its digest is another one');
  };
  for (const part of ['input', 'state', 'output'] as const) {
    compare(head.line, `run: ${part}`, head.digests[part], head[part] ?? null);
  }
  for (const { line, step, digests, input, output } of steps) {
    compare(line, `step ${step.step_key}: input`, digests.input, input ?? null);
    compare(line, `step ${step.step_key}: output`, digests.output, output ?? null);
  }
  return count;
}

function* notesAbout(
  { head, chain, entries, gates }: EvidenceFile,
  { unproven }: VerifiedChain,
): Generator<string> {
  if (!head.ended) yield 'The run has not ended: the file has what had happened until then.';
  if (!head.contents) {
    yield 'The file has digests instead of contents: state, output and inputs were not computed.';
  }
  if (head.hides) {
    yield 'The file hides the arguments at gates: the caller who made it cannot decide them. Their digests were not computed.';
  }
  const unknown = gates.filter(
    ({ gate_kind, consequences, reused_from }) =>
      gate_kind === 'human_gate' && consequences === null && reused_from === null,
  ).length;
  if (unknown > 0) yield `${unknown} gates do not have what they showed.`;
  const waiting = entries.filter(({ position }) => position === null).length;
  if (waiting > 0) yield `${waiting} entries of the audit log were not sealed yet.`;
  if (unproven > 0) yield `${unproven} seals are of 1.0.0: they were not computed.`;
  if (chain.swept) {
    yield 'Retention has removed entries of the audit log: missing ones were not reported.';
  }
  if (!chain.to_head) {
    yield 'The seals end with the last entry of the run: the log was too long to include the others.';
  }
}

/** Whether the noted head seals all entries of the run. */
function verifyHead(
  { chain, seals }: EvidenceFile,
  { hashes, entries, unproven }: VerifiedChain,
  { noted, report, notes }: { noted: string; report: Report; notes: string[] },
): boolean {
  const [position] = [...hashes].find(([, hash]) => hash === noted) ?? [];
  const last = seals.at(-1)?.line ?? chain.line;
  if (position === undefined) {
    report(last, 'seals', 'they do not contain the given head');
    return false;
  }
  const after = entries.filter((entry) => entry.position === null || entry.position > position);
  if (after.length > 0) {
    notes.push(`${after.length} entries of the run are newer than the given head.`);
    return false;
  }
  return unproven === 0;
}
