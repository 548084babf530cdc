import type { z } from 'zod';
import { workflowFields } from '#shared/contract/workflows/workflow.ts';
import { workflowFileSchema } from '#shared/contract/workflows/workflow-file.ts';
import { issuePath } from '#shared/graph/issues.ts';
import { hint } from '#shared/graph/suggest.ts';
import { wording } from '#shared/values/issue-wording.ts';
import { type Content, type Place, parseText, type Problem } from './text.ts';

export type Definition = z.infer<typeof workflowFileSchema>;

/** In the order in which files list them. */
export const settingNames = [
  ...(Object.keys(workflowFields.shape) as (keyof typeof workflowFields.shape)[]),
  'checks' as const,
  'limits' as const,
];

const keys = ['$schema', 'id', ...settingNames];

export interface ReadFile {
  /** The path as given, or as found in a given folder. */
  file: string;
  definition?: Definition;
  problems: Problem[];
  /** The place of a part of the graph, by the path in a problem of the graph: `nodes[3].params.url`. */
  placeInGraph: (path: string) => Place | undefined;
  /** The address of the JSON Schema that the file names for editors. */
  schema?: string | undefined;
}

/** Reads and checks a file of one workflow, except for the meaning of its graph. Never throws. */
export function readDefinition(file: string, text: string, format: 'json' | 'yaml'): ReadFile {
  const content = parseText(text, format);
  if ('problems' in content) {
    return { file, problems: content.problems, placeInGraph: () => undefined };
  }
  const placeInGraph = (path: string): Place | undefined =>
    content.placeOf(['graph', ...issuePath(path)]);
  if (!isObject(content.value)) {
    const message = 'must contain one object: the settings of a workflow';
    return { file, problems: [{ message, place: content.placeOf([]) }], placeInGraph };
  }
  if (content.value['name'] === undefined) {
    const problems = [{ message: 'has no `name`', place: content.placeOf([]) }];
    return { file, problems, placeInGraph };
  }
  const parsed = workflowFileSchema.safeParse(content.value);
  const schema = parsed.data?.$schema ?? MODELINE.exec(text)?.[1];
  return parsed.success
    ? { file, definition: parsed.data, problems: [], placeInGraph, schema }
    : { file, problems: parsed.error.issues.flatMap((i) => problemsOf(i, content)), placeInGraph };
}

/** How editors find the schema of a YAML file. */
const MODELINE = /^#\s*yaml-language-server:\s*\$schema=(\S+)/m;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Read = Exclude<Content, { problems: Problem[] }>;

function problemsOf(issue: z.core.$ZodIssue, { placeOf, placeOfKey }: Read): Problem[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  if (issue.code !== 'unrecognized_keys') {
    const message = `${pathText(path)} ${wording(issue.message)}`;
    return [{ message, place: placeOf(path) }];
  }
  return issue.keys.map((key) => {
    const meant = path.length === 0 ? hint(key, keys) : '';
    const message = `unknown key '${[...path, key].join('.')}'${meant}`;
    return { message, place: placeOfKey(path, key) };
  });
}

const pathText = (path: readonly (string | number)[]): string =>
  path
    .map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`))
    .join('');
