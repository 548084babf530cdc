import { byCursor, wholeList } from './pages.ts';
import type { CallOptions, Send } from './request.ts';
import type { AnswerOf, BodyOf, QueryOf } from './routes.ts';
import type { GraphDiff, Workflow, WorkflowVersion } from './types.ts';

export function workflowMethods(send: Send) {
  const listVersions = (
    workflowId: string,
    query: QueryOf<'GET /api/workflows/{id}/versions'> = {},
    options?: CallOptions,
  ) => send('GET /api/workflows/{id}/versions', [workflowId], { query, options });

  return {
    listWorkflows: (options?: CallOptions): Promise<Workflow[]> =>
      wholeList((query) => send('GET /api/workflows', [], { query, options }), {}),
    /** A draft; an invalid graph is taken, but cannot be run. */
    createWorkflow: (
      body: BodyOf<'POST /api/workflows'>,
      options?: CallOptions,
    ): Promise<Workflow> => send('POST /api/workflows', [], { body, options }),
    getWorkflow: (workflowId: string, options?: CallOptions): Promise<Workflow> =>
      send('GET /api/workflows/{id}', [workflowId], { options }),
    /** What is absent stays. A changed graph makes the next version. */
    updateWorkflow: (
      workflowId: string,
      body: BodyOf<'PUT /api/workflows/{id}'>,
      options?: CallOptions,
    ): Promise<Workflow> => send('PUT /api/workflows/{id}', [workflowId], { body, options }),
    /** Deletes the workflow and its runs. */
    deleteWorkflow: (workflowId: string, options?: CallOptions): Promise<undefined> =>
      send('DELETE /api/workflows/{id}', [workflowId], { options }),
    publishWorkflow: (workflowId: string, options?: CallOptions): Promise<Workflow> =>
      send('POST /api/workflows/{id}/publish', [workflowId], { options }),
    /** Everything that is wrong with the graph, and everything that is doubtful. */
    validate: (
      workflowId: string,
      options?: CallOptions,
    ): Promise<AnswerOf<'POST /api/workflows/{id}/validate'>> =>
      send('POST /api/workflows/{id}/validate', [workflowId], { options }),
    /** Replaces the checks that each successful run is scored by. */
    setChecks: (
      workflowId: string,
      checks: BodyOf<'PUT /api/workflows/{id}/checks'>,
      options?: CallOptions,
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
    /** The nodes and edges that one version adds to, removes from or changes in another. */
    diffVersions: (
      workflowId: string,
      query: QueryOf<'GET /api/workflows/{id}/versions/diff'>,
      options?: CallOptions,
    ): Promise<GraphDiff> =>
      send('GET /api/workflows/{id}/versions/diff', [workflowId], { query, options }),
  };
}
