import { byCursor, wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { AnswerOf, BodyOf, QueryOf } from './routes.ts';
import type {
  GraphDiff,
  ListedWorkflow,
  Workflow,
  WorkflowDetail,
  WorkflowVersion,
} from './types.ts';

export function workflowMethods(send: Send) {
  const listVersions = (
    workflowId: string,
    query: QueryOf<'GET /api/workflows/{id}/versions'> = {},
    options?: CallOptions,
  ) => send('GET /api/workflows/{id}/versions', [workflowId], { query, options });

  return {
    /** With `include: 'limits'`, each has its `limits`. */
    listWorkflows: ({ include, ...options }: CallOptions & { include?: 'limits' } = {}): Promise<
      ListedWorkflow[]
    > =>
      wholeList(
        (query) => send('GET /api/workflows', [], { query: { ...query, include }, options }),
        {},
      ),
    /** Creates a draft. An invalid graph is accepted but cannot run. */
    createWorkflow: (
      body: BodyOf<'POST /api/workflows'>,
      options?: CallOptions,
    ): Promise<Workflow> => send('POST /api/workflows', [], { body, options }),
    /** With `include: 'draft'`, the result has a `draft`, which is null if there is none. */
    getWorkflow: (
      workflowId: string,
      { include, ...options }: CallOptions & { include?: 'draft' } = {},
    ): Promise<WorkflowDetail> =>
      send('GET /api/workflows/{id}', [workflowId], { query: { include }, options }),
    /** Omitted fields are unchanged. A changed graph creates the next version. */
    updateWorkflow: (
      workflowId: string,
      body: BodyOf<'PUT /api/workflows/{id}'>,
      options?: WriteOptions,
    ): Promise<Workflow> => send('PUT /api/workflows/{id}', [workflowId], { body, options }),
    /** Deletes the workflow and its runs. */
    deleteWorkflow: (workflowId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/workflows/{id}', [workflowId], { options }),
    /** Publishes the current version; `publishDraft` publishes a draft. */
    publishWorkflow: (workflowId: string, options?: WriteOptions): Promise<Workflow> =>
      send('POST /api/workflows/{id}/publish', [workflowId], { options }),
    /** All errors and warnings of the saved graph, or of the given one. */
    validate: (
      workflowId: string,
      {
        graph,
        input_schema,
        ...options
      }: CallOptions & NonNullable<BodyOf<'POST /api/workflows/{id}/validate'>> = {},
    ): Promise<AnswerOf<'POST /api/workflows/{id}/validate'>> =>
      send('POST /api/workflows/{id}/validate', [workflowId], {
        ...((graph !== undefined || input_schema !== undefined) && {
          body: { graph, input_schema },
        }),
        options,
      }),
    /** Replaces the checks that score each successful run. */
    setChecks: (
      workflowId: string,
      checks: BodyOf<'PUT /api/workflows/{id}/checks'>,
      options?: WriteOptions,
    ): Promise<Workflow> =>
      send('PUT /api/workflows/{id}/checks', [workflowId], { body: checks, options }),

    /** One page of a workflow's versions, newest first. */
    listVersions,
    /** All versions of a workflow, newest first. */
    versions: (workflowId: string) =>
      byCursor(
        (cursor) => listVersions(workflowId, { cursor }),
        (page) => page.versions,
      ),
    getVersion: (
      workflowId: string,
      version: number,
      options?: CallOptions,
    ): Promise<WorkflowVersion> =>
      send('GET /api/workflows/{id}/versions/{version}', [workflowId, version], { options }),
    /** The nodes and edges that were added, removed or changed between two versions. */
    diffVersions: (
      workflowId: string,
      query: QueryOf<'GET /api/workflows/{id}/versions/diff'>,
      options?: CallOptions,
    ): Promise<GraphDiff> =>
      send('GET /api/workflows/{id}/versions/diff', [workflowId], { query, options }),
  };
}
