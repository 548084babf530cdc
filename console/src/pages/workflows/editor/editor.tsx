import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import { editorPage as text } from '#console/src/messages/en/workflows/editor.ts';
import { Failure } from '#console/src/parts/failure.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingPage } from '#console/src/parts/loading.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { gotNoResponse } from '#console/src/parts/text/describe-error.ts';
import { useMay } from '#console/src/queries/identity.ts';
import { draftQuery, workflowQuery } from '#console/src/queries/workflows.ts';
import { EditorBench } from './editor-bench.tsx';

const LOOK_EVERY_MS = 10_000;

/** The graph editor of a workflow. Polls the workflow and its draft to detect when another user saves. */
export function EditorPage() {
  const { workflowId } = useParams({ from: '/inside/workflows/$workflowId/edit' });
  const opening = useSearch({ from: '/inside/workflows/$workflowId/edit' });
  const query = useQuery({ ...workflowQuery(workflowId), refetchInterval: LOOK_EVERY_MS });
  const mayEdit = useMay('create_edit_workflows');
  const draft = useQuery({ ...draftQuery(workflowId), refetchInterval: LOOK_EVERY_MS });
  if (!mayEdit) {
    return (
      <Page title={text.title}>
        <Alert>{text.missingPermission}</Alert>
      </Page>
    );
  }
  if (query.data === undefined && query.error !== null && !gotNoResponse(query.error)) {
    return (
      <Page title={text.title}>
        <Failure error={query.error} onRetry={() => void query.refetch()} />
      </Page>
    );
  }
  return (
    <Loaded query={query} loading={<LoadingPage />}>
      {(workflow) => (
        <Loaded query={draft} loading={<LoadingPage />}>
          {(saved) => (
            <EditorBench key={workflow.id} workflow={workflow} saved={saved} opening={opening} />
          )}
        </Loaded>
      )}
    </Loaded>
  );
}
