import { afterEach, describe, expect, test } from '@jest/globals';
import { NodeError } from '#shared/node-error.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { inRequest, joinRun, openRequest, recordStart } from '#shared/platform/tracing/requests.ts';
import { runPlaces } from '#shared/platform/tracing/run-places.ts';
import {
  annotate,
  type EndedSpan,
  exportSpans,
  isTracing,
  traced,
  tracedBelow,
} from '#shared/platform/tracing/spans.ts';
import { startTracing } from '#shared/platform/tracing/start.ts';
import { startCollector } from '#test/fakes/collector.ts';
import { eventually } from '#test/support/engine.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };

afterEach(() => exportSpans(undefined));

function capture(): EndedSpan[] {
  const spans: EndedSpan[] = [];
  exportSpans((span) => spans.push(span));
  return spans;
}

describe('spans', () => {
  test('nest in the order of the calls, and end within their parents', async () => {
    const spans = capture();
    const result = await tracedBelow(parent, { name: 'step', attributes: { a: 1 } }, async () => {
      annotate({ b: 2 });
      return traced({ name: 'chat', attributes: {} }, async () => 'done');
    });
    expect(result).toBe('done');
    const [chat, step] = spans as [EndedSpan, EndedSpan];
    expect(step).toMatchObject({ name: 'step', parent, attributes: { a: 1, b: 2 }, failed: false });
    expect(chat.parent).toEqual(step.place);
    expect(chat.place.traceId).toBe(parent.traceId);
    expect(chat.startedAt).toBeGreaterThanOrEqual(step.startedAt);
    expect(chat.endedAt).toBeLessThanOrEqual(step.endedAt);
  });

  test('of a failure contain the type of the error, never its text', async () => {
    const spans = capture();
    const fail = (error: Error) =>
      tracedBelow(parent, { name: 'chat', attributes: {} }, () => Promise.reject(error));
    await expect(fail(new NodeError('secret', { status: 429 }))).rejects.toThrow('secret');
    await expect(fail(new TypeError('secret'))).rejects.toThrow('secret');
    await expect(fail(new DOMException('secret', 'AbortError'))).rejects.toThrow('secret');
    expect(spans.map((span) => [span.attributes['error.type'], span.failed])).toEqual([
      ['429', true],
      ['TypeError', true],
      ['AbortError', false],
    ]);
    expect(JSON.stringify(spans)).not.toContain('secret');
  });

  test('are recorded only below a span, and only while tracing', async () => {
    const spans = capture();
    await traced({ name: 'chat', attributes: {} }, async () => annotate({ a: 1 }));
    exportSpans(undefined);
    await tracedBelow(parent, { name: 'step', attributes: {} }, async () => undefined);
    expect(spans).toEqual([]);
  });
});

describe('the trace of a run', () => {
  const start = { runId: 'run_1', resumes: 0, startedAt: 5, attributes: {} };
  const caller = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01`;

  test('depends only on the run, and its spans on the number of resumes', () => {
    const [first, again, second] = [0, 0, 1].map((resumes) => runPlaces('run_1', resumes));
    expect(again).toEqual(first);
    expect(second!.run.traceId).toBe(first!.run.traceId);
    const ids = [first!.start, first!.run, second!.start, second!.run].map((each) => each.spanId);
    expect(new Set(ids).size).toBe(4);
    expect(runPlaces('run_2', 0).run.traceId).not.toBe(first!.run.traceId);
    expect(first!.run).toEqual({
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });

  test('begins with the request that starts the run', () => {
    const spans = capture();
    const request = openRequest(undefined);
    inRequest(request, () => recordStart(start));
    const { start: place } = runPlaces('run_1', 0);
    expect(spans).toEqual([
      expect.objectContaining({ name: 'start_run', place, parent: request.place, links: [] }),
    ]);
    expect(request).toMatchObject({ place: { traceId: place.traceId }, parent: undefined });
  });

  test('is linked with the trace of a caller, which the request keeps', () => {
    const spans = capture();
    const request = openRequest(caller);
    inRequest(request, () => recordStart(start));
    const { start: place } = runPlaces('run_1', 0);
    expect(request.place.traceId).toBe('c'.repeat(32));
    expect(request.links).toEqual([place]);
    expect(spans).toEqual([
      expect.objectContaining({ place, parent: undefined, links: [request.place] }),
    ]);
  });

  test('contains the first run that a request changes; the request links to the others', () => {
    capture();
    const request = openRequest(undefined);
    inRequest(request, () => {
      joinRun('run_1');
      joinRun('run_2');
    });
    expect(request.parent).toEqual(runPlaces('run_1', 0).start);
    expect(request.links).toEqual([runPlaces('run_2', 0).start]);
  });

  test('needs no request', () => {
    const spans = capture();
    recordStart(start);
    recordStart({ ...start, resumes: 1 });
    joinRun('run_1');
    expect(spans.map((span) => [span.name, span.parent])).toEqual([
      ['start_run', undefined],
      ['resume_run', runPlaces('run_1', 0).start],
    ]);
  });

  test.each([
    undefined,
    '',
    'x',
    `00-${'0'.repeat(32)}-${'d'.repeat(16)}-01`,
    `00-${'c'.repeat(32)}-${'0'.repeat(16)}-01`,
    `ff-${'c'.repeat(32)}-${'d'.repeat(16)}-01`,
    `${caller}-more`,
    caller.toUpperCase(),
  ])('ignores the traceparent %s', (header) => {
    expect(openRequest(header).parent).toBeUndefined();
  });

  test('accepts a traceparent of a later version, and its decision not to sample', () => {
    expect(openRequest(`01${caller.slice(2)}-more`).parent?.remote).toEqual({ sampled: true });
    expect(openRequest(caller.replace(/01$/, '00')).parent?.remote).toEqual({ sampled: false });
  });
});

describe('the export', () => {
  const begin = async (env: Record<string, string>, logger = log) =>
    startTracing(loadConfig({ OTEL_BSP_SCHEDULE_DELAY: '20', ...env }).tracing, {
      service: 'durable-workflows-test',
      log: logger,
    });
  const spanOf = (runId: string) =>
    tracedBelow(runPlaces(runId, 0).run, { name: 'step', attributes: { a: 1, b: 0.5 } }, () =>
      Promise.resolve(),
    );

  test('is off without a collector', async () => {
    const tracing = await begin({});
    expect(isTracing()).toBe(false);
    await tracing.stop();
  });

  test('sends spans that have ended, with the chosen ids', async () => {
    const collector = await startCollector();
    const tracing = await begin({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/` });
    await spanOf('run_1');
    await eventually(() => collector.spans.length === 1);
    const { run } = runPlaces('run_1', 0);
    expect(collector.spans[0]).toMatchObject({
      service: 'durable-workflows-test',
      traceId: run.traceId,
      parentSpanId: run.spanId,
      attributes: { a: 1, b: 0.5 },
    });
    await spanOf('run_2');
    await tracing.stop();
    expect(collector.spans).toHaveLength(2);
    await collector.close();
  });

  test('sends to the address, and with the headers, that apply only to traces', async () => {
    const collector = await startCollector();
    const tracing = await begin({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_HEADERS: 'X-A=one%2C two, x-b=b',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'X-B=traces',
    });
    await spanOf('run_1');
    await tracing.stop();
    expect(collector.spans).toHaveLength(1);
    expect(collector.received()).toContain('"x-a":"one, two"');
    expect(collector.received()).toContain('"x-b":"traces"');
    await collector.close();
  });

  test('uses the address for traces unchanged', () => {
    const url = (env: Record<string, string>) => loadConfig(env).tracing?.url;
    const OTEL_EXPORTER_OTLP_TRACES_ENDPOINT = 'http://collector/any/path';
    expect(url({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT })).toBe(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT);
    expect(url({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector/base/' })).toBe(
      'http://collector/base/v1/traces',
    );
  });

  test('fails a request after the timeout, preferring the one for traces', async () => {
    const timeout = (env: Record<string, string>) =>
      loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector', ...env }).tracing?.timeoutMs;
    expect(timeout({})).toBe(10_000);
    expect(timeout({ OTEL_EXPORTER_OTLP_TIMEOUT: '20' })).toBe(20);
    expect(
      timeout({ OTEL_EXPORTER_OTLP_TIMEOUT: '20', OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '30' }),
    ).toBe(30);
    const lines: string[] = [];
    const logger = createLogger(
      { name: 'test', level: 'warn' },
      { write: (line: string) => void lines.push(line) },
    );
    const collector = await startCollector();
    collector.answer(undefined);
    const tracing = await begin(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '50' },
      logger,
    );
    await spanOf('run_1');
    await eventually(() => lines.length === 1);
    await tracing.stop();
    await collector.close();
  });

  test.each([
    ['true', false],
    ['TRUE', false],
    ['false', true],
    ['', true],
  ])('with OTEL_SDK_DISABLED=%s is on: %s', (OTEL_SDK_DISABLED, on) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector', OTEL_SDK_DISABLED };
    expect(loadConfig(env).tracing !== undefined).toBe(on);
  });

  test.each([
    ['OTEL_SDK_DISABLED', 'yes', 'must be true or false'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'Invalid URL'],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'ftp://collector', 'Invalid URL'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'canary', 'must be name=value separated by commas'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=1,=canary', 'must be name=value separated by commas'],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=canary%', 'must be name=value separated by commas'],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=canary;b', 'must be name=value separated by commas'],
    ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'a=canary%0A', 'must be name=value separated by commas'],
    ['OTEL_EXPORTER_OTLP_TIMEOUT', '0', 'Too small'],
    ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', '10s', 'Invalid input'],
  ])('refuses %s=%s', (name, value, problem) => {
    const load = () => loadConfig({ [name]: value });
    expect(load).toThrow(`${name}: ${problem}`);
    expect(load).not.toThrow('canary');
  });

  test.each([
    ['always_off', 'none'],
    ['parentbased_always_off', 'none'],
    ['traceidratio', 'some'],
    ['parentbased_traceidratio', 'some'],
    ['always_on', 'all'],
    ['no such sampler', 'all'],
  ])('with the sampler %s sends %s of the traces', async (sampler, share) => {
    const collector = await startCollector();
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: sampler,
      OTEL_TRACES_SAMPLER_ARG: '0.5',
    };
    const tracing = await begin(env);
    const runs = Array.from({ length: 40 }, (_, n) => `run_${n}`);
    for (const runId of runs) {
      recordStart({ runId, resumes: 0, startedAt: Date.now(), attributes: {} });
      await spanOf(runId);
    }
    await tracing.stop();
    // A trace is exported as a whole or not at all.
    const counts = runs.map(
      (runId) =>
        collector.spans.filter((span) => span.traceId === runPlaces(runId, 0).run.traceId).length,
    );
    expect(counts.filter((count) => count !== 0 && count !== 2)).toEqual([]);
    const sent = counts.filter((count) => count === 2).length;
    if (share === 'some') {
      expect(sent).toBeGreaterThan(5);
      expect(sent).toBeLessThan(35);
    } else expect(sent).toBe(share === 'all' ? 40 : 0);
    await collector.close();
  });

  test("follows a caller's decision, unless the sampler ignores it", async () => {
    const collector = await startCollector();
    const sentWith = async (sampler: string) => {
      const tracing = await begin({
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_TRACES_SAMPLER: sampler,
      });
      const traceId = 'c'.repeat(32);
      const remote = { traceId, spanId: 'd'.repeat(16), remote: { sampled: false } };
      await tracedBelow(remote, { name: sampler, attributes: {} }, () => Promise.resolve());
      await tracing.stop();
      return collector.spans.filter((span) => span.name === sampler).length;
    };
    expect(await sentWith('parentbased_always_on')).toBe(0);
    expect(await sentWith('always_on')).toBe(1);
    await collector.close();
  });

  test('logs that it failed, without what was sent', async () => {
    const collector = await startCollector();
    const lines: string[] = [];
    const logger = createLogger(
      { name: 'test', level: 'warn' },
      { write: (line: string) => void lines.push(line) },
    );
    const tracing = await begin({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }, logger);
    collector.answer(400);
    for (let round = 1; round <= 3; round += 1) {
      await spanOf('run_1');
      await eventually(() => collector.requests() === round);
    }
    await tracing.stop();
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'could not export all spans' });
    expect(lines[0]).toContain('400');
    expect(lines[0]).not.toContain(runPlaces('run_1', 0).run.traceId);
    await collector.close();
  });

  test('reports another protocol, and sends JSON', async () => {
    const collector = await startCollector();
    const lines: string[] = [];
    const logger = createLogger(
      { name: 'test', level: 'warn' },
      { write: (line: string) => void lines.push(line) },
    );
    const tracing = await begin(
      { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      logger,
    );
    await spanOf('run_1');
    await tracing.stop();
    expect(collector.spans).toHaveLength(1);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      expect.stringContaining('OTEL_EXPORTER_OTLP_PROTOCOL is ignored'),
    ]);
    await collector.close();
  });

  test('neither fails nor hangs while the collector refuses or does not respond', async () => {
    const collector = await startCollector();
    const tracing = await begin({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
      // Who waited for an answer would outlast the test.
      OTEL_EXPORTER_OTLP_TIMEOUT: '3600000',
    });
    collector.answer(503);
    for (let n = 0; n < 100; n += 1) await spanOf(`run_${n}`);
    await eventually(() => collector.requests() > 0);
    collector.answer(undefined);
    for (let n = 0; n < 100; n += 1) await spanOf(`run_${n}`);
    await tracing.stop();
    await collector.close();
  });
});
