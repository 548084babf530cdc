import { createHash } from 'node:crypto';
import { EVIDENCE_FORMAT, type LineOf } from '#shared/contract/evidence/evidence.ts';
import type { Step } from '#shared/contract/steps/step.ts';
import { findRunChain, readRunEntries, readSeals } from '#shared/db/audit/run-chain.ts';
import {
  type EvidenceHead,
  type EvidenceScope,
  readEvidenceGates,
  readEvidenceHead,
  readEvidenceResults,
  readEvidenceVerdicts,
} from '#shared/db/evidence/evidence.ts';
import { inSnapshot, type Pool, type Tx } from '#shared/db/pool.ts';
import { listSteps } from '#shared/db/steps/step-pages.ts';
import type { Json } from '#shared/json.ts';
import { digestsUntrusted } from '#shared/platform/threads/untrusted.ts';
import { jsonOf, JsonText, put, textsOf } from '#shared/values/json-text.ts';

export interface EvidenceRequest extends EvidenceScope {
  contents: boolean;
  /** What the caller can see. */
  hides: boolean;
  shownSteps: (steps: Step[]) => Step[];
  shownGate: (gate: LineOf<'gate'>) => LineOf<'gate'>;
}

/** Steps in memory at a time. */
const STEP_PAGE = 50;

/**
 * Reads the evidence of a run in one snapshot, and passes it to `send` line by line. The text can be read until `send`
 * ends. Throws AppError `not_found`.
 */
export async function withEvidence(
  db: Pool,
  request: EvidenceRequest,
  send: (text: AsyncGenerator<string, void>) => Promise<void>,
): Promise<void> {
  await inSnapshot(db, async (tx) => {
    const head = await readEvidenceHead(tx, request);
    await send(sealed(linesOf(tx, request, head)));
  });
}

/** The lines as text, with the last one, which has their digest. */
async function* sealed(
  lines: AsyncGenerator<readonly object[], void>,
): AsyncGenerator<string, void> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const page of lines) {
    const text = page.map((line) => `${onOneLine(line)}\n`).join('');
    count += page.length;
    hash.update(text, 'utf8');
    yield text;
  }
  const end: LineOf<'end'> = { kind: 'end', lines: count, digest: `sha256:${hash.digest('hex')}` };
  yield `${JSON.stringify(end)}\n`;
}

/** In JSON, a line break is only between values. */
const onOneLine = (line: object): string => jsonOf(line).replaceAll(/[\r\n]/g, ' ');

async function* linesOf(
  tx: Tx,
  request: EvidenceRequest,
  head: EvidenceHead,
): AsyncGenerator<readonly object[], void> {
  const { workspaceId, runId } = request;
  yield [
    await headLine(request, head),
    { kind: 'graph', graph: head.graph } satisfies LineOf<'graph'>,
    await readEvidenceResults(tx, runId),
  ];
  let cursor: string | undefined;
  do {
    const page = await listSteps(tx, { workspaceId, runId, limit: STEP_PAGE, cursor });
    yield await stepLines(request, request.shownSteps(page.steps));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  for await (const page of readEvidenceGates(tx, runId)) yield page.map(request.shownGate);
  yield* readEvidenceVerdicts(tx, request);
  yield* chainLines(tx, request);
}

async function headLine(
  { workspaceId, contents, hides }: EvidenceRequest,
  { run, ended, input, state, output, laid }: EvidenceHead,
): Promise<object> {
  const [ofInput, ofState, ofOutput] = await digestsUntrusted(workspaceId, [
    input,
    state ?? 'null',
    output ?? 'null',
  ]);
  const line = {
    ...{ kind: 'evidence', format: EVIDENCE_FORMAT, made_at: new Date().toISOString() },
    ...{ contents, hides, run, ended },
    digests: {
      input: ofInput,
      state: state === null ? null : ofState,
      output: output === null ? null : ofOutput,
    },
  };
  if (!contents) return line;
  const payload = (text: string | null) => (text === null ? null : new JsonText(text));
  put(line, 'input', payload(input));
  put(line, 'state', payload(state));
  put(line, 'output', payload(output));
  put(line, 'laid', payload(laid ?? '{}'));
  return line;
}

async function stepLines(
  { workspaceId, contents }: EvidenceRequest,
  steps: readonly Step[],
): Promise<object[]> {
  const payloads = steps.map((step) => [payloadOf(step, 'input'), payloadOf(step, 'output')]);
  const texts = payloads
    .flat()
    .map((each) => (each instanceof JsonText ? each.text : jsonOf(each)));
  const digests = await digestsUntrusted(workspaceId, texts);
  return steps.map((step, at) => {
    const line = {
      kind: 'step',
      step: Object.fromEntries(
        Object.keys(step)
          .filter((key) => key !== 'input' && key !== 'output')
          .map((key) => [key, step[key as keyof Step]]),
      ),
      digests: { input: digests[2 * at], output: digests[2 * at + 1] },
    };
    if (contents) {
      put(line, 'input', payloads[at]![0]!);
      put(line, 'output', payloads[at]![1]!);
    }
    return line;
  });
}

const payloadOf = (step: Step, part: 'input' | 'output'): Json | JsonText =>
  textsOf(step)?.get(part) ?? step[part];

async function* chainLines(tx: Tx, scope: EvidenceScope): AsyncGenerator<readonly object[], void> {
  const { workspaceId } = scope;
  const chain = await findRunChain(tx, scope);
  const { before, toHead: to_head, swept } = chain;
  yield [
    { kind: 'chain', workspace_id: workspaceId, before, to_head, swept } satisfies LineOf<'chain'>,
  ];
  for await (const page of readRunEntries(tx, scope)) {
    yield page.map(({ position, entry }) => ({ kind: 'entry', position, entry }));
  }
  for await (const page of readSeals(tx, workspaceId, chain)) {
    const seals = page.map(({ digest, hash }) => ({ entry: digest, hash }));
    yield [{ kind: 'seals', first: page[0]!.position, seals } satisfies LineOf<'seals'>];
  }
}
