import {
  type GetPromptResult,
  type ListPromptsResult,
  type ListResourcesResult,
  type McpServer,
  INVALID_PARAMS,
  ProtocolError,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server';
import { workflowFileJsonSchema } from '#shared/contract/workflows/workflow-file.ts';
import { guide } from '#api/guide/pages.ts';

/** What a model reads to write workflows: the guides and the schema of workflows as resources, and prompts. */

const SCHEMA = 'schema://workflow';
const PAGE = 'docs://';
const MAX_ARGUMENT = 20_000;

const pages = () => guide().flatMap((section) => section.pages);

const resources = (): ListResourcesResult['resources'] => [
  {
    uri: SCHEMA,
    name: 'workflow',
    title: 'Schema of workflows',
    description:
      'JSON Schema of a workflow: every kind of node with its keys, edges, checks and limits',
    mimeType: 'application/schema+json',
  },
  ...pages().map(({ name, title, question }) => ({
    uri: PAGE + name,
    name,
    title,
    description: question,
    mimeType: 'text/markdown',
  })),
];

function textOf(uri: string): string | undefined {
  if (uri === SCHEMA) return JSON.stringify(workflowFileJsonSchema());
  if (!uri.startsWith(PAGE)) return undefined;
  return pages().find(({ name }) => uri === PAGE + name)?.text;
}

interface Prompt {
  /** Each has one argument. */
  listed: ListPromptsResult['prompts'][number] & {
    arguments: [{ name: string; description: string; required: true }];
  };
  text: (argument: string) => string;
}

const prompts: readonly Prompt[] = [
  {
    listed: {
      name: 'build_workflow',
      title: 'Build a workflow',
      description:
        'From a description of what it should do, to a draft that is valid and was tried',
      arguments: [{ name: 'goal', description: 'What the workflow should do', required: true }],
    },
    text: (goal) => `Build a workflow for this goal:

${goal}

1. Read the resources ${PAGE}skill, ${SCHEMA} and ${PAGE}graphs. list_workflows and list_custom_tools say what is there already.
2. Ask before anything is sent, paid or changed: put a human_gate before it, or give the step an approval (${PAGE}approvals).
3. create_workflow with the graph and an input_schema. validate_workflow says what is wrong, and explain_validation how it should be.
   Correct it with save_draft until it is valid.
4. dry_run_workflow with an example of an input says what a run will call and cost.
5. Show me the graph in words, and what you have assumed. Publishing is my decision.`,
  },
  {
    listed: {
      name: 'fix_workflow',
      title: 'Fix a workflow',
      description: 'Finds what is wrong with a workflow, and saves a draft that is valid',
      arguments: [{ name: 'workflow', description: 'Its id or exact name', required: true }],
    },
    text: (
      workflow,
    ) => `Find out what is wrong with the workflow ${JSON.stringify(workflow)}, and correct it.

1. get_workflow, then explain_validation: each problem with the part of the graph and the schema that it must fit.
2. list_runs with status failed: get_run says which step failed, and why. Errors of a step's model, tool or input are not
   errors of the graph: say so.
3. save_draft with the smallest change that helps, and validate it again with explain_validation and draft: true.
4. test_node tries a changed node with the state of a past run.
5. Show me what you have changed and why. Publishing is my decision.`,
  },
  {
    listed: {
      name: 'explain_run',
      title: 'Explain a run',
      description: 'What a run did, why it is where it is, and what can be done',
      arguments: [{ name: 'run_id', description: 'The id of the run', required: true }],
    },
    text: (
      runId,
    ) => `Explain the run ${JSON.stringify(runId)} to a person who does not know the graph.

1. get_run: its status, steps, costs, and what it waits for. get_gate shows an open gate.
2. Say what happened, step by step, in words; then why the run is where it is.
3. Say what can be done: approve or reject (a person decides), resume_run after the cause is gone, fork_run from a step, or cancel_run.
   Do none of it unless I ask.`,
  },
];

/** Lets clients list and read the guides and the schema, and use the prompts. */
export function serveDocuments({ server }: McpServer): void {
  server.setRequestHandler('resources/list', async () => ({ resources: resources() }));
  server.setRequestHandler('resources/templates/list', async () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    const text = textOf(uri);
    if (text === undefined) throw new ResourceNotFoundError(uri.slice(0, 200));
    const mimeType = uri === SCHEMA ? 'application/schema+json' : 'text/markdown';
    return { contents: [{ uri, mimeType, text }] };
  });
  server.setRequestHandler('prompts/list', async () => ({
    prompts: prompts.map(({ listed }) => listed),
  }));
  server.setRequestHandler('prompts/get', async ({ params }) => promptFor(params));
}

function promptFor({
  name,
  arguments: given = {},
}: {
  name: string;
  arguments?: Record<string, string> | undefined;
}): GetPromptResult {
  const prompt = prompts.find(({ listed }) => listed.name === name);
  if (prompt === undefined) {
    throw new ProtocolError(INVALID_PARAMS, `Unknown prompt: ${name.slice(0, 100)}`);
  }
  const {
    description,
    arguments: [wanted],
  } = prompt.listed;
  const value = given[wanted.name]?.trim() ?? '';
  if (value === '' || value.length > MAX_ARGUMENT) {
    throw new ProtocolError(
      INVALID_PARAMS,
      `${name} needs ${wanted.name}: a text of at most ${MAX_ARGUMENT} characters`,
    );
  }
  return {
    ...(description === undefined ? {} : { description }),
    messages: [{ role: 'user', content: { type: 'text', text: prompt.text(value) } }],
  };
}
