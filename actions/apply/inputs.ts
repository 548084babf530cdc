import { readFileSync } from 'node:fs';
import { z } from 'zod';

const given = z.string().default('');
const environment = z.object({
  INPUT_URL: given,
  INPUT_API_KEY: given,
  INPUT_FOLDER: given,
  INPUT_MODE: given,
  INPUT_PUBLISH: given,
  INPUT_EXPERIMENT: given,
  INPUT_GITHUB_TOKEN: given,
  GITHUB_OUTPUT: z.string().optional(),
  GITHUB_STEP_SUMMARY: z.string().optional(),
  GITHUB_EVENT_PATH: z.string().optional(),
  GITHUB_REPOSITORY: given,
  GITHUB_API_URL: z.string().default('https://api.github.com'),
});

/** What the action was asked to do, from the environment that GitHub gives it. */
export interface Inputs {
  url: string;
  apiKey: string;
  folder: string;
  mode: 'check' | 'apply';
  publish: boolean;
  /** On how many past runs a changed graph is tried. */
  experiment: number;
  outputFile: string | undefined;
  summaryFile: string | undefined;
  /** Where the comment goes; undefined outside of pull requests, or without a token. */
  comment: { api: string; repository: string; pullRequest: number; token: string } | undefined;
}

/** Reads and checks the inputs. Throws an Error that says which one is wrong. */
export function readInputs(env: NodeJS.ProcessEnv): Inputs {
  const e = environment.parse(env);
  if (e.INPUT_API_KEY === '') {
    throw new Error(
      'api-key is empty. GitHub passes no secrets to pull requests from forks: run this action only for branches of the repository',
    );
  }
  if (!/^https?:\/\//.test(e.INPUT_URL)) throw new Error('url must be the address of the service');
  const mode = z.enum(['check', 'apply']).safeParse(e.INPUT_MODE || 'check');
  if (!mode.success) throw new Error('mode must be check or apply');
  if (!['', 'true', 'false'].includes(e.INPUT_PUBLISH)) {
    throw new Error('publish must be true or false');
  }
  const experiment = z.coerce.number().int().min(0).max(1_000).safeParse(e.INPUT_EXPERIMENT);
  if (!experiment.success) throw new Error('experiment must be a number of runs from 0 to 1000');
  return {
    url: e.INPUT_URL,
    apiKey: e.INPUT_API_KEY,
    folder: e.INPUT_FOLDER || 'workflows',
    mode: mode.data,
    publish: e.INPUT_PUBLISH === 'true',
    experiment: experiment.data,
    outputFile: e.GITHUB_OUTPUT,
    summaryFile: e.GITHUB_STEP_SUMMARY,
    comment: commentOf(e),
  };
}

const event = z.object({ pull_request: z.object({ number: z.number().int() }) });

function commentOf(e: z.infer<typeof environment>): Inputs['comment'] {
  if (e.INPUT_GITHUB_TOKEN === '' || e.GITHUB_EVENT_PATH === undefined) return undefined;
  const read = event.safeParse(JSON.parse(readFileSync(e.GITHUB_EVENT_PATH, 'utf8')));
  if (!read.success) return undefined;
  return {
    api: e.GITHUB_API_URL,
    repository: e.GITHUB_REPOSITORY,
    pullRequest: read.data.pull_request.number,
    token: e.INPUT_GITHUB_TOKEN,
  };
}
