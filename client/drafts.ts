import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf } from './routes.ts';
import type { Workflow, WorkflowDraft } from './types.ts';

export function draftMethods(send: Send) {
  return {
    /** The edits beyond the current version. Status 404 without a draft. */
    getDraft: (workflowId: string, options?: CallOptions): Promise<WorkflowDraft> =>
      send('GET /api/workflows/{id}/draft', [workflowId], { options }),
    /** Creates the draft, or changes the one with the `etag` in `ifMatch`. Omitted fields are unchanged. */
    saveDraft: (
      workflowId: string,
      body: BodyOf<'PUT /api/workflows/{id}/draft'>,
      options?: WriteOptions,
    ): Promise<WorkflowDraft> =>
      send('PUT /api/workflows/{id}/draft', [workflowId], { body, options }),
    discardDraft: (
      workflowId: string,
      options: WriteOptions & { ifMatch: string },
    ): Promise<undefined> => send('DELETE /api/workflows/{id}/draft', [workflowId], { options }),
    /** Makes the draft with this `etag` the current version, and publishes it. */
    publishDraft: (
      workflowId: string,
      { note }: { note?: string },
      options: WriteOptions & { ifMatch: string },
    ): Promise<Workflow> =>
      send('POST /api/workflows/{id}/publish', [workflowId], {
        body: { from_draft: true, note },
        options,
      }),
  };
}
