import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { chain, echo, type Engine, startEngine } from '#test/support/engine.ts';
import {
  startApiProcess,
  startWorkerProcess,
  type TestApi,
  type TestProcess,
} from '#test/support/processes.ts';

// The alerts and dashboards that are delivered, against what real processes report.

const root = join(import.meta.dirname, '../..');
const deploy = join(root, 'deploy');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
const { groups } = parse(read('deploy/prometheus/rules.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

interface Panel {
  id: number;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string }[];
}
const dashboards = readdirSync(join(deploy, 'grafana')).map((name) => {
  const { panels } = JSON.parse(read(`deploy/grafana/${name}`)) as { panels: Panel[] };
  return { name, panels };
});

/** Grafana replaces its variables before Prometheus reads the expression. */
const asSent = (expr: string): string => expr.replaceAll('$__rate_interval', '5m');

const expressions = [
  ...rules.map(({ alert, expr }) => [`the alert ${alert}`, expr] as const),
  ...dashboards.flatMap(({ name, panels }) =>
    panels.flatMap(({ title, targets = [] }) =>
      targets.map(
        ({ expr, legendFormat }) => [`${name}, "${title}": ${legendFormat}`, asSent(expr)] as const,
      ),
    ),
  ),
];

/** The metrics that an expression reads, each with the labels that it is selected or grouped by. */
function readsOf(expr: string): { metric: string; labels: string[] }[] {
  const reads: { metric: string; labels: string[] }[] = [];
  const grouped: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ name, from, to, node }) => {
      if (node.type.isError) throw new Error(`${expr}: unreadable at ${from}`);
      const text = expr.slice(from, to);
      if (name === 'Identifier') reads.push({ metric: text, labels: [] });
      if (name !== 'LabelName') return;
      if (node.parent?.name === 'GroupingLabels') grouped.push(text);
      else reads.at(-1)!.labels.push(text);
    },
  });
  return reads.map(({ metric, labels }) => ({ metric, labels: [...labels, ...grouped] }));
}

let engine: Engine;
let worker: TestProcess;
let api: TestApi;
/** The labels of each metric that a process reports. */
const reported = new Map<string, Set<string>>();
beforeAll(async () => {
  engine = await startEngine({ worker: false });
  worker = await startWorkerProcess(engine.env);
  api = await startApiProcess(engine.env);
  const workflowId = await engine.define(chain(echo('a'), { id: 'gate', kind: 'human_gate' }));
  await engine.until(await engine.trigger(workflowId), ['paused']);
  await fetch(`${api.url}/api/health`);
  for (const url of [`http://127.0.0.1:${String(worker.ready['metricsPort'])}`, api.url]) {
    const text = await (await fetch(`${url}/metrics`)).text();
    for (const [, metric = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
      const names = reported.get(metric) ?? new Set();
      for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) names.add(label);
      reported.set(metric, names);
    }
  }
}, 60_000);
afterAll(async () => {
  await api.stop();
  await worker.stop();
  await engine.close();
});

/** Prometheus adds them. */
const ADDED = ['instance', 'job'];

test.each(expressions)('%s reads metrics that exist, by labels that they have', (_name, expr) => {
  const reads = readsOf(expr);
  expect(reads).not.toEqual([]);
  for (const { metric, labels } of reads) {
    expect([...reported.keys()]).toContain(metric);
    const known = [...(reported.get(metric) ?? []), ...ADDED];
    expect({ metric, unknown: labels.filter((label) => !known.includes(label)) }).toEqual({
      metric,
      unknown: [],
    });
  }
});

describe('the alerts', () => {
  test('each have a test in which they fire and one in which they stay silent', () => {
    interface Case {
      name: string;
      alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
    }
    const { tests } = parse(read('deploy/prometheus/rules.test.yml')) as { tests: Case[] };
    const names = (fires: boolean): string[] =>
      tests
        .filter(({ name }) => / fires /.test(name) === fires)
        .flatMap(({ alert_rule_test: checks }) => {
          expect(checks.some(({ exp_alerts }) => exp_alerts.length > 0)).toBe(fires);
          return checks.map(({ alertname }) => alertname);
        });
    for (const fires of [true, false]) {
      expect([...new Set(names(fires))].sort()).toEqual(rules.map(({ alert }) => alert).sort());
    }
  });

  test('have a name, a severity and what to do, and use labels that their expression keeps', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, expr, labels, annotations } of rules) {
      const { summary = '', description = '' } = annotations;
      expect([alert, labels]).toEqual([
        alert,
        { severity: expect.stringMatching(/^(?:critical|warning|info)$/) },
      ]);
      expect([summary, description]).not.toContain('');
      for (const [, label] of `${summary} ${description}`.matchAll(/\$labels\.(\w+)/g)) {
        expect([alert, expr]).toEqual([
          alert,
          expect.stringMatching(new RegExp(`by \\([^)]*\\b${label}\\b`)),
        ]);
      }
    }
  });

  test('and dashboards cover every metric that docs/operations.md tells to watch', () => {
    const [, table = ''] =
      /\| watch \| because \|\n([\s\S]*?)\n\n/.exec(read('docs/operations.md')) ?? [];
    const watched = table
      .split('\n')
      .slice(1)
      .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([a-z][\w]+_[\w]+)`/g)])
      .map(([, metric = '']) => metric)
      .filter((metric) => metric !== 'worker_type');
    expect(watched.length).toBeGreaterThan(20);
    const found = expressions.flatMap(([, expr]) => readsOf(expr).map(({ metric }) => metric));
    const bare = new Set(found.map((metric) => metric.replace(/_(?:bucket|count|sum)$/, '')));
    expect(watched.filter((metric) => !bare.has(metric))).toEqual([]);
  });
});

test.each(dashboards)('the panels of $name have places of their own', ({ panels }) => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBeLessThanOrEqual(24);
});
