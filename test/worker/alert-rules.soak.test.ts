import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { findPromtool } from '#scripts/setup/promtool.mjs';
import { patiently } from '#test/support/patience.ts';

// Prometheus's own tool reads the alerts that are delivered, and tries them on series.

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const prometheus = join(root, 'deploy/prometheus');
const promtool = findPromtool();

// Without it, shown as skipped, and not as passed. `npm run test:alerts` builds it.
(promtool === undefined ? describe.skip : describe)('promtool', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'rules-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** The output of promtool, also when it refuses. */
  const output = async (...args: string[]): Promise<string> => {
    try {
      const { stdout, stderr } = await run(promtool ?? '', args, { cwd: folder });
      return stdout + stderr;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      return `refused: ${stdout}${stderr}`;
    }
  };

  test('accepts the alerts', async () => {
    const { groups } = parse(readFileSync(join(prometheus, 'rules.yml'), 'utf8')) as {
      groups: { rules: unknown[] }[];
    };
    const rules = groups.flatMap((group) => group.rules).length;
    const printed = await output('check', 'rules', '--lint-fatal', join(prometheus, 'rules.yml'));
    expect(printed).toContain(`SUCCESS: ${rules} rules found`);
  });

  test(
    'sees each alert fire above its limit, and stay silent below it',
    async () => {
      const printed = await output('test', 'rules', join(prometheus, 'rules.test.yml'));
      expect(printed).not.toContain('refused');
      expect(printed).toContain('SUCCESS');
    },
    patiently(15_000),
  );

  test('evaluates the expressions of the dashboards', async () => {
    const grafana = join(root, 'deploy/grafana');
    const panels = readdirSync(grafana).flatMap((name) => {
      const dashboard = JSON.parse(readFileSync(join(grafana, name), 'utf8')) as {
        panels: { targets?: { expr: string }[] }[];
      };
      return dashboard.panels.flatMap(({ targets = [] }) => targets);
    });
    // Grafana replaces its variables before Prometheus reads the expression.
    const rules = panels.map(({ expr }, at) => ({
      record: `panel:${at}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const file = join(folder, 'panels.yml');
    writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }));
    expect(rules.length).toBeGreaterThan(20);
    expect(await output('check', 'rules', file)).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  test(
    'fails the tests when an alert has another limit, waits longer or says something else',
    async () => {
      const [rules, tests] = ['rules.yml', 'rules.test.yml'].map((name) =>
        readFileSync(join(prometheus, name), 'utf8'),
      ) as [string, string];
      writeFileSync(join(folder, 'rules.test.yml'), tests);
      for (const [from, to] of [
        ['> 0.02', '> 0.01'],
        ['> 100', '>= 100'],
        ['for: 30m', 'for: 35m'],
        ['are not woken', 'sleep'],
      ] as const) {
        expect(rules).toContain(from);
        writeFileSync(join(folder, 'rules.yml'), rules.replace(from, to));
        expect(await output('test', 'rules', join(folder, 'rules.test.yml'))).toContain('refused');
      }
    },
    patiently(60_000),
  );
});
