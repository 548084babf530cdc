import { createHash } from 'node:crypto';
import type { SpanPlace } from './spans.ts';

/**
 * The spans that other spans of a run refer to. Their ids are computed from the run's id, so that the API and every
 * worker know them: after a crash, a retry, a reset or with a new execution, and without a change of workflow code.
 * `resumes`: how often the run had been resumed.
 */
export function runPlaces(runId: string, resumes: number): { start: SpanPlace; run: SpanPlace } {
  const traceId = sha256(runId).slice(0, 32);
  const ids = sha256(`${runId}/${resumes}`);
  return {
    start: { traceId, spanId: ids.slice(0, 16) },
    run: { traceId, spanId: ids.slice(16, 32) },
  };
}

/**
 * The span of an agent with tools over all its turns and calls. Their workers know it before it is recorded, and it is
 * another one after each resume.
 */
export function agentPlace(runId: string, resumes: number, stepKey: string): SpanPlace {
  const { traceId } = runPlaces(runId, resumes).run;
  return { traceId, spanId: sha256(`${runId}/${resumes}/${stepKey}`).slice(0, 16) };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
