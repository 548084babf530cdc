import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { Failure } from '../../../parts/failure.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { LoadingPage } from '../../../parts/loading.tsx';
import { Page } from '../../../parts/page.tsx';
import { useMay } from '../../../queries/identity.ts';
import { draftQuery, workflowQuery } from '../../../queries/workflows.ts';
import { EditorBench } from './editor-bench.tsx';

const LOOK_EVERY_MS = 10_000;

/** The graph editor of a workflow. Polls the workflow and its draft to detect when another user saves. */
export function EditorPage() {
  const { workflowId } = useParams({ from: '/inside/workflows/$workflowId/edit' });
  const query = useQuery({ ...workflowQuery(workflowId), refetchInterval: LOOK_EVERY_MS });
  const mayEdit = useMay('create_edit_workflows');
  const draft = useQuery({ ...draftQuery(workflowId), refetchInterval: LOOK_EVERY_MS });
  if (!mayEdit) {
    return (
      <Page title="Editor">
        <Alert>You need the create_edit_workflows permission to edit workflows.</Alert>
      </Page>
    );
  }
  if (query.data === undefined && query.error !== null) {
    return (
      <Page title="Editor">
        <Failure error={query.error} onRetry={() => void query.refetch()} />
      </Page>
    );
  }
  return (
    <Loaded query={query} loading={<LoadingPage />}>
      {(workflow) => (
        <Loaded query={draft} loading={<LoadingPage />}>
          {(saved) => <EditorBench key={workflow.id} workflow={workflow} saved={saved} />}
        </Loaded>
      )}
    </Loaded>
  );
}
