import { stringify } from 'yaml';
import type { z } from 'zod';
import { graphEdgeSchema } from '#shared/contract/workflows/graph.ts';
import { evaluationCheckSchema } from '#shared/contract/workflows/evaluation-check.ts';
import { nodeKeysOf } from '#shared/graph/graph-check.ts';
import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { settingNames } from './definition.ts';
import type { Settings } from './differences.ts';
import { parseText } from './text.ts';

export type Format = 'yaml' | 'json';

/**
 * The text of a file: every setting, in the order of the contract. `id` is for a name that several workflows have,
 * `schema` the address of the JSON Schema for editors.
 */
export function textOf(
  workflow: Settings & { id?: string },
  format: Format,
  schema: string,
): string {
  const { id } = workflow;
  const value = {
    ...(id === undefined ? {} : { id }),
    ...Object.fromEntries(settingNames.map((name) => [name, ordered(name, workflow[name])])),
  };
  return format === 'json'
    ? `${JSON.stringify({ $schema: schema, ...value }, null, 2)}\n`
    : `# yaml-language-server: $schema=${schema}\n${yamlOf(value)}`;
}

function yamlOf(value: object): string {
  const options = { lineWidth: 0, aliasDuplicateObjects: false } as const;
  const text = stringify(value, options);
  const read = parseText(text, 'yaml');
  if ('value' in read && canonicalJson(read.value) === canonicalJson(value)) return text;
  // Texts with unusual line endings and spaces keep them only in double quotes.
  return stringify(value, {
    ...options,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
  });
}

function ordered(name: string, value: unknown): unknown {
  if (name === 'checks') return listOf(value, checkKeys);
  if (name !== 'graph' || !isObject(value)) return value;
  const { nodes, edges, ...rest } = value;
  return {
    nodes: listOf(nodes, ({ kind }) => nodeKeysOf(kind as Json)),
    edges: listOf(edges, () => Object.keys(graphEdgeSchema.shape)),
    ...rest,
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown, keysOf: (part: Record<string, unknown>) => string[]): unknown =>
  Array.isArray(value)
    ? value.map((part: unknown) => (isObject(part) ? inOrder(part, keysOf(part)) : part))
    : value;

/** Keys that the contract does not have come last, in alphabetical order. */
function inOrder(part: Record<string, unknown>, keys: string[]): Record<string, unknown> {
  const others = Object.keys(part).filter((key) => !keys.includes(key));
  const all = [...keys.filter((key) => Object.hasOwn(part, key)), ...others.toSorted()];
  return Object.fromEntries(all.map((key) => [key, part[key]]));
}

type Shaped = { shape: Record<string, z.ZodType> };

const checkKeys = ({ type }: Record<string, unknown>): string[] => {
  const option = evaluationCheckSchema.options.find(
    ({ shape }) => shape.type.safeParse(type).success,
  );
  return Object.keys(((option ?? evaluationCheckSchema.options[0]) as Shaped).shape);
};
