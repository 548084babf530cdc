import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { readGuide } from '#api/guide/pages.ts';
import { tools } from '#api/mcp/server.ts';
import { createProgram } from '#cli/program.ts';
import { workflowFileSchema } from '#shared/contract/workflows/workflow-file.ts';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { builtinTools } from '#shared/tools.ts';

const text = readFileSync(join(import.meta.dirname, '../../docs/skill/SKILL.md'), 'utf8');
const [, matter = '', body = ''] = /^---\n([^]*?)\n---\n([^]*)$/.exec(text) ?? [];
const blocks = [...body.matchAll(/^```(json|yaml)\n([^]*?)^```$/gm)].map(
  ([, language = '', source = '']) => ({ language, source }),
);

describe('the skill', () => {
  test('has a name and a description within the bounds of the format, and is short', () => {
    const { name, description, ...rest } = parse(matter) as Record<string, string>;
    expect(rest).toEqual({});
    expect(name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
    expect(description!.length).toBeLessThanOrEqual(1_024);
    expect(text.split('\n').length).toBeLessThan(500);
  });

  test('has three graphs', () => expect(blocks).toHaveLength(3));

  test.each(blocks)('has a graph in $language that can run', ({ language, source }) => {
    const value = language === 'json' ? { graph: JSON.parse(source) } : parse(source);
    const { graph, input_schema } = workflowFileSchema.partial().parse(value);
    // Secrets that are unknown here can exist.
    const report = checkGraph(graph, { tools: builtinTools, customTools: new Map() });
    expect(report).toMatchObject({ valid: true, errors: [] });
    expect(input_schema === undefined).toBe(language === 'json');
  });

  test('names guides that there are', () => {
    const pages = readGuide().flatMap((section) => section.pages.map(({ name }) => name));
    const named = [...body.matchAll(/docs:\/\/([\w-]+)/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !pages.includes(name))).toEqual([]);
  });

  test('names tools and commands that there are', () => {
    const steps = /## Steps\n([^]*?)\n## /.exec(body)?.[1] ?? '';
    const known = new Set([...tools.map(({ name }) => name), 'wait_seconds', 'run_cap_usd']);
    const named = [...steps.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    const commands = [...steps.matchAll(/`ops ([^`]+)`/g)].map(([, line = '']) => line);
    expect(commands.length).toBeGreaterThan(8);
    expect(commands.filter((line) => !isCommand(createProgram(), line.split(' ')))).toEqual([]);
  });
});

/** Whether these words lead to a command that takes arguments, and has the options among them. */
function isCommand(command: Command, [word = '', ...rest]: string[]): boolean {
  const next = command.commands.find((each) => each.name() === word);
  if (next !== undefined) return isCommand(next, rest);
  const flags = [word, ...rest].filter((each) => each.startsWith('-'));
  const options = command.options.flatMap(({ short, long }) => [short, long]);
  return command.commands.length === 0 && flags.every((flag) => options.includes(flag));
}
