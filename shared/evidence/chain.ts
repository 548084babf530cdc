import { isObject } from '#shared/graph/json-value.ts';
import { type JsonObject, parsedJson } from '#shared/json.ts';
import type { EvidenceFile, Placed } from './file.ts';
import type { Report, Sha256 } from './problem.ts';

/** An entry of the audit log about the run. */
export interface RunEntry {
  line: number;
  position: number | null;
  id: string;
  action: string;
  actorId: string | null;
  details: JsonObject;
}

/** The part of the log's chain in the file. */
export interface VerifiedChain {
  entries: RunEntry[];
  /** The hashes of the seals by position, as far as they follow from each other. */
  hashes: ReadonlyMap<number, string>;
  /** The number of seals of 1.0.0 whose entries are not in the file: their hashes cannot be computed. */
  unproven: number;
}

/** Checks that each seal follows from the one before it and from its entry. */
export function verifyChain(
  { chain, seals, entries, head }: EvidenceFile,
  sha256: Sha256,
  report: Report,
): VerifiedChain {
  const texts = new Map(entries.map((each) => [each.position, each]));
  const hashes = new Map([[chain.before.position, chain.before.hash]]);
  let { position, hash } = chain.before;
  let unproven = 0;
  for (const { line, first, seals: page } of seals) {
    if (first !== position + 1) {
      report(line, `seal ${position + 1}`, 'it is not in the file');
      position = first - 1;
    }
    for (const { entry: digest, hash: sealed } of page) {
      position += 1;
      const own = texts.get(position);
      const of = own === undefined ? undefined : sha256({ text: own.entry });
      if (own !== undefined && digest !== null && of !== digest) {
        report(own.line, `entry ${position}`, 'its digest is not the one that was sealed');
      }
      const content = digest === null ? own && { text: own.entry } : { hex: digest };
      if (content === undefined) unproven += 1;
      else if (sha256({ hex: hash }, content) !== sealed) {
        report(
          line,
          `seal ${position}`,
          'it does not follow from the seal before it and its entry',
        );
      }
      hash = sealed;
      hashes.set(position, hash);
    }
  }
  for (const { position: at, line } of entries) {
    if (at === null || (hashes.has(at) && at !== chain.before.position)) continue;
    report(line, `entry ${at}`, 'its seal is not in the file');
  }
  const known = entries.flatMap((each) => readEntry(each, { chain, head }, report));
  return { entries: known, hashes, unproven };
}

/** The columns of a sealed entry, in the order of `docs/audit.md`. */
function readEntry(
  { entry, line, position }: Placed<'entry'>,
  { chain, head }: Pick<EvidenceFile, 'chain' | 'head'>,
  report: Report,
): RunEntry[] {
  const columns = parsedJson(entry);
  const texts = Array.isArray(columns) ? columns : [];
  const [id, , workspace, action, actor, , type, target, details] = texts;
  const given = typeof details === 'string' ? parsedJson(details) : undefined;
  if (typeof id !== 'string' || typeof action !== 'string' || !isObject(given)) {
    report(line, 'the entry', 'it is no entry of the audit log');
    return [];
  }
  if (workspace !== chain.workspace_id || type !== 'run' || target !== head.run.id) {
    report(line, 'the entry', 'it is not about this run');
    return [];
  }
  return [
    {
      ...{ line, position, id, action },
      actorId: typeof actor === 'string' ? actor : null,
      details: given,
    },
  ];
}
