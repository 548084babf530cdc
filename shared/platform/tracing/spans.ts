import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** The location of a span: 32 and 16 hexadecimal digits. */
export interface SpanPlace {
  traceId: string;
  spanId: string;
}

/** `remote`: another service's decision to sample the trace, which applies to its spans. */
export interface ParentSpan extends SpanPlace {
  remote?: { sampled: boolean };
}

/** Data that is safe to export: no prompts, arguments, results, error messages or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

type SpanKind = 'server' | 'client' | 'producer' | 'internal';

/** A span that has ended. Times are in ms since 1970, with fractions. */
export interface EndedSpan {
  name: string;
  kind: SpanKind;
  place: SpanPlace;
  parent?: ParentSpan | undefined;
  startedAt: number;
  endedAt: number;
  attributes: SpanAttributes;
  failed?: boolean;
  links?: readonly SpanPlace[];
}

export interface SpanStart {
  name: string;
  kind?: SpanKind;
  attributes: SpanAttributes;
}

type RecordSpan = (span: EndedSpan) => void;

/** A span in progress. */
interface OpenSpan {
  place: SpanPlace;
  startedAt: number;
  /** The start in ms of `performance.now()`. */
  began: number;
  attributes: Record<string, string | number | boolean | undefined>;
}

// One per process, like the SDK's logger: a parameter would pass through every function between the API and the tools.
let record: RecordSpan | undefined;
const open = new AsyncLocalStorage<OpenSpan>();

/** Sends every span of this process to `to`. Undefined: spans cost nothing. */
export function exportSpans(to: RecordSpan | undefined): void {
  record = to;
}

export const isTracing = (): boolean => record !== undefined;

export function recordSpan(span: EndedSpan): void {
  record?.(span);
}

export const newSpanId = (): string => randomBytes(8).toString('hex');

/** Records the work as a child of the span in progress. Outside a span, or without tracing, it only does the work. */
export function traced<T>(span: SpanStart, work: () => Promise<T>): Promise<T> {
  const parent = open.getStore();
  return parent === undefined ? work() : tracedBelow(parent.place, span, work);
}

/**
 * Records the work as a child of `parent`, with what it traces below. For a failure, only the error type is recorded.
 */
export async function tracedBelow<T>(
  parent: SpanPlace,
  { name, kind = 'internal', attributes }: SpanStart,
  work: () => Promise<T>,
): Promise<T> {
  if (record === undefined) return work();
  const outer = open.getStore();
  const began = performance.now();
  const span: OpenSpan = {
    place: { traceId: parent.traceId, spanId: newSpanId() },
    // Uses the clock of the outer span, so that no adjustment of the system's clock moves a span outside its parent.
    startedAt: outer === undefined ? Date.now() : outer.startedAt + (began - outer.began),
    began,
    attributes: { ...attributes },
  };
  let failed = false;
  try {
    return await open.run(span, work);
  } catch (error) {
    span.attributes['error.type'] = errorType(error);
    failed = !isStop(error);
    throw error;
  } finally {
    const { place, startedAt } = span;
    const endedAt = startedAt + performance.now() - began;
    recordSpan({
      name,
      kind,
      place,
      parent,
      startedAt,
      endedAt,
      failed,
      attributes: span.attributes,
    });
  }
}

/** Adds attributes to the span in progress, if there is one. */
export function annotate(attributes: SpanAttributes): void {
  const span = open.getStore();
  if (span !== undefined) Object.assign(span.attributes, attributes);
}

const NAME = /^\w[\w.]{0,60}$/;

/** The HTTP status of a failed call, or the name of the error. Never the message, which can quote any text. */
function errorType(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { type, status } = error as { type?: unknown; status?: unknown };
  if (typeof status === 'number') return String(status);
  const name = typeof type === 'string' ? type : error.name;
  return NAME.test(name) ? name : 'Error';
}

/** A cancel or shutdown is not a failure of the work. */
const isStop = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'CancelledFailure' || error.name === 'AbortError');
