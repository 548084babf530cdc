import {
  EVIDENCE_FORMAT,
  type EvidenceKind,
  type EvidenceLine,
  evidenceLineSchema,
  type LineOf,
} from '#shared/contract/evidence/evidence.ts';
import type { Report, Sha256 } from './problem.ts';

/** A line of the file, with its number from 1. */
export type Placed<Kind extends EvidenceKind> = LineOf<Kind> & { line: number };

/** The lines of a file, by kind. */
export interface EvidenceFile {
  head: Placed<'evidence'>;
  graph: Placed<'graph'>;
  results: Placed<'results'>;
  steps: readonly Placed<'step'>[];
  gates: readonly Placed<'gate'>[];
  verdicts: readonly Placed<'verdict'>[];
  chain: Placed<'chain'>;
  seals: readonly Placed<'seals'>[];
  entries: readonly Placed<'entry'>[];
}

/**
 * Reads a file, and reports lines that cannot be read, missing lines, and bytes that differ from the digest in the last
 * line. Undefined if it is no evidence that can be verified.
 */
export function readEvidence(
  text: string,
  sha256: Sha256,
  report: Report,
): EvidenceFile | undefined {
  const texts = text.replace(/\n$/, '').split('\n');
  const lines: (EvidenceLine & { line: number })[] = [];
  for (const [at, each] of texts.entries()) {
    const read = readLine(each);
    if (typeof read === 'string') {
      report(at + 1, 'the line', read);
      if (at === 0) return undefined;
      continue;
    }
    lines.push({ ...read, line: at + 1 });
  }
  const all = <Kind extends EvidenceKind>(kind: Kind): Placed<Kind>[] =>
    lines.filter((each) => each.kind === kind) as Placed<Kind>[];
  checkBytes(texts, all('end').at(-1), sha256, report);
  const one = <Kind extends EvidenceKind>(kind: Kind): Placed<Kind> | undefined => {
    const [first, second] = all(kind);
    if (first === undefined) report(texts.length, 'the file', `it has no line '${kind}'`);
    if (second !== undefined) report(second.line, 'the line', `the file has two lines '${kind}'`);
    return first;
  };
  const [head, graph, results, chain] = [
    one('evidence'),
    one('graph'),
    one('results'),
    one('chain'),
  ];
  if (!head || !graph || !results || !chain) return undefined;
  return {
    ...{ head, graph, results, chain },
    steps: all('step'),
    gates: all('gate'),
    verdicts: all('verdict'),
    seals: all('seals'),
    entries: all('entry'),
  };
}

/** The line, or why it cannot be read. */
function readLine(text: string): EvidenceLine | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  const format = isFirst(value) ? value.format : EVIDENCE_FORMAT;
  if (format !== EVIDENCE_FORMAT) {
    return `its format is ${JSON.stringify(format)}, and this version verifies format ${EVIDENCE_FORMAT}`;
  }
  const read = evidenceLineSchema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  return `it is no line of evidence: ${[issue?.path.join('.'), issue?.message].filter(Boolean).join(': ')}`;
}

const isFirst = (value: unknown): value is { format: unknown } =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'evidence';

function checkBytes(
  texts: readonly string[],
  end: Placed<'end'> | undefined,
  sha256: Sha256,
  report: Report,
): void {
  if (end === undefined || end.line !== texts.length) {
    report(texts.length, 'the file', 'its last line is missing: it was not received completely');
    return;
  }
  if (end.lines !== texts.length - 1) {
    report(
      end.line,
      'lines',
      `it had ${end.lines} lines before the last one, not ${texts.length - 1}`,
    );
  }
  const before = texts.slice(0, -1).map((each) => ({ text: `${each}\n` }));
  if (end.digest !== `sha256:${sha256(...before)}`) {
    report(end.line, 'digest', 'the file was changed after the service wrote it');
  }
}
