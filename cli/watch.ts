import { type Client, type PendingGate, type Run, type Step, StreamError } from '#client/index.ts';
import { costOf, exactJson, type Output, painter, printable } from './output.ts';

/** The maximum wait before the next read of a run, with and without a stream. */
const LOOK_MS = { streaming: 5_000, alone: 500 };

export const rests = ({ status }: Run): boolean => status !== 'pending' && status !== 'running';

/** Yields the run now and after each frame, until it ends or pauses. Stops when the signal is aborted. */
export async function* runStates(
  client: Client,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<Run, void, undefined> {
  const leaving = new AbortController();
  const news = listen(client, runId, AbortSignal.any([signal, leaving.signal]));
  try {
    for (;;) {
      // Before the read, so that changes during it cause another read.
      const next = news.next();
      const run = await client.getRun(runId, { signal });
      yield run;
      if (rests(run)) return;
      await next;
      signal.throwIfAborted();
    }
  } finally {
    leaving.abort();
  }
}

/** `next` resolves at the next frame, or when the poll is due. */
function listen(client: Client, runId: string, signal: AbortSignal): { next: () => Promise<void> } {
  let pending = false;
  let patience = LOOK_MS.alone;
  let wake = (): void => undefined;
  const notify = (): void => {
    pending = true;
    wake();
  };
  const follow = async (): Promise<void> => {
    const onOpen = (): void => {
      patience = LOOK_MS.streaming;
      notify();
    };
    for await (const _frame of client.stream(runId, { signal, onOpen })) notify();
  };
  follow().catch((error: unknown) => {
    // API keys cannot open a stream, and a connection may break. Then the run is polled.
    patience = LOOK_MS.alone;
    if (error instanceof StreamError) notify();
  });
  signal.addEventListener('abort', notify);
  const next = async (): Promise<void> => {
    if (!pending) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    pending = false;
  };
  return { next };
}

/** Prints the progress of a run: redrawn on a terminal, one JSON object per line elsewhere. */
export interface RunView {
  show: (run: Run) => void;
}

export function createRunView(
  output: Output,
  terminal: { isTTY?: boolean; columns?: number; rows?: number; write: (text: string) => unknown },
): RunView {
  return output.colour ? drawnView(terminal) : lineView(output);
}

function drawnView(terminal: {
  columns?: number;
  rows?: number;
  write: (text: string) => unknown;
}): RunView {
  let drawn = 0;
  return {
    show: (run) => {
      // A terminal of unknown size reports 0.
      const columns = terminal.columns || 80;
      const rows = terminal.rows || 24;
      const lines = treeLines(run, columns);
      // Lines that have scrolled off the screen cannot be redrawn.
      const shown = lines.length < rows ? lines : [lines[0] ?? '', ...lines.slice(2 - rows)];
      const up = drawn === 0 ? '' : `\u001b[${drawn}A\u001b[J`;
      terminal.write(`${up}${shown.join('\n')}\n`);
      drawn = shown.length;
    },
  };
}

const marks: Record<Step['status'], [string, 'green' | 'red' | 'yellow' | 'dim']> = {
  running: ['●', 'yellow'],
  success: ['✔', 'green'],
  failed: ['✖', 'red'],
  paused: ['◆', 'yellow'],
  skipped: ['○', 'dim'],
  cancelled: ['○', 'red'],
  unrecorded: ['✖', 'yellow'],
};
const runColours = {
  pending: 'dim',
  running: 'yellow',
  paused: 'yellow',
  success: 'green',
  failed: 'red',
} as const;

/** The run and its steps, colored and truncated to the width. Steps of loop iterations are indented. */
export function treeLines(run: Run, columns: number): string[] {
  const paint = painter(true);
  const cut = (text: string, taken: number): string =>
    printable(text).slice(0, Math.max(0, columns - taken));
  const head = `${run.workflow_name} ${run.id} ${run.status} ${costOf(run)}`;
  const steps = run.steps.map((step, index) => {
    const branch = index === run.steps.length - 1 ? '└─ ' : '├─ ';
    const inset = '  '.repeat(depthOf(step));
    const [mark, colour] = marks[step.status];
    const time = step.duration_ms === null ? '' : ` ${seconds(step.duration_ms)}`;
    const text = `${nameOf(step)}${time}${step.error === null ? '' : `: ${step.error}`}`;
    return `${branch}${inset}${paint(colour, mark)} ${cut(text, branch.length + inset.length + 2)}`;
  });
  const gates = run.pending_gates.map((gate) =>
    cut(`   ? ${gate.title}: ${gate.prompt}${progressOf(gate)}`, 0),
  );
  const ending = run.error === null ? [] : [cut(`   ${run.error}`, 0)];
  return [paint(runColours[run.status], cut(head, 0)), ...steps, ...gates, ...ending];
}

/** ` (1 of 3 approved)` for a gate that requires several approvals. */
export const progressOf = ({ required = 1, decisions = [] }: PendingGate): string =>
  required === 1 ? '' : ` (${decisions.length} of ${required} approved)`;

/** The label with its iteration; for a turn of an agent its number, for a call the tool. */
function nameOf({ label, step_key, turn, tool_call: call }: Step): string {
  if (call !== undefined) return call.tool;
  if (turn !== undefined) return `turn ${turn}`;
  const round = roundOf(step_key);
  return round === undefined ? label : `${label} #${round}`;
}

/** The number of loops around the step (0 for `search`, 2 for `search#2.1`), plus one or two within an agent. */
function depthOf({ step_key, parent_step_key: agent, tool_call: call }: Step): number {
  const loops = roundOf(agent ?? step_key)?.split('.').length ?? 0;
  if (agent === undefined) return loops;
  return loops + (call === undefined ? 1 : 2);
}

const roundOf = (stepKey: string): string | undefined => stepKey.split('#')[1];

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

function lineView(output: Output): RunView {
  const printed = new Map<string, string>();
  const printOnce = (key: string, state: string, line: object): void => {
    if (printed.get(key) === state) return;
    printed.set(key, state);
    output.line(exactJson(line, 0));
  };
  return {
    show: (run) => {
      for (const {
        step_key,
        label,
        kind,
        status,
        duration_ms,
        cost_usd,
        error,
        attempt,
      } of run.steps) {
        const line = { type: 'step', step_key, label, kind, status, duration_ms, cost_usd, error };
        printOnce(step_key, `${status} ${attempt}`, line);
      }
      const { id, status, cost_usd, error, pending_gate } = run;
      const line = { type: 'run', run_id: id, status, cost_usd, error, pending_gate };
      // A second gate is a change, although the run stays paused.
      printOnce('', `${status} ${pending_gate?.step_key ?? ''}`, line);
    },
  };
}
