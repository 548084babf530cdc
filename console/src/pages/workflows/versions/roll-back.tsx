import { Alert, Button, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Workflow } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { rollBack as text } from '#console/src/messages/en/workflows/versions.ts';
import { words } from '#console/src/messages/en/words.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Refusal } from '#console/src/parts/forms/form.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { versionQuery, workflowsKey } from '#console/src/queries/workflows.ts';
import { Problems } from '#console/src/pages/workflows/mistakes/problems.tsx';
import { useMistakes } from '#console/src/pages/workflows/mistakes/use-mistakes.ts';
import { DiffView } from './diff-view.tsx';
import type { VersionContent } from './version-diff.ts';
import { Footer } from '#console/src/parts/forms/footer.tsx';

const MAX_NOTE = 1_000;

/** Makes the content of an earlier version the latest one. */
export function RollBack({ workflow, version }: { workflow: Workflow; version: number }) {
  const [opened, { open, close }] = useDisclosure(false);
  const mayPublish = useMay('publish_workflows');
  const mayEdit =
    useMay('create_edit_workflows') && (workflow.status !== 'published' || mayPublish);
  const query = useQuery({ ...versionQuery(workflow.id, version), enabled: opened });
  if (!mayEdit || version === workflow.version) return null;
  return (
    <>
      <Button variant="default" onClick={open}>
        {text.rollBack(version)}
      </Button>
      <Modal opened={opened} onClose={close} title={text.title(version)} size="xl">
        <Loaded query={query}>
          {(content) => <Question {...{ workflow, version, content, close }} />}
        </Loaded>
      </Modal>
    </>
  );
}

/** What it changes and who uses it, before it is done. */
function Question({
  workflow,
  version,
  content,
  close,
}: {
  workflow: Workflow;
  version: number;
  content: VersionContent;
  close: () => void;
}) {
  const { graph, input_schema } = content;
  const checked = useMistakes(workflow.id, graph, input_schema);
  const isEmpty = graph.nodes.length === 0;
  const [note, setNote] = useState<string>(text.suggestedNote(version));
  const said = note.trim() === '' ? {} : { note };
  const send = useAction(
    () =>
      api().updateWorkflow(
        workflow.id,
        { graph, input_schema, ...said },
        { ifMatch: workflow.etag },
      ),
    {
      changes: [workflowsKey],
      quiet: true,
      done: (saved) => text.done(version, saved.version),
      onDone: close,
    },
  );
  return (
    <Stack gap="md">
      <Text size="sm">{text.consequence(version, workflow.version)}</Text>
      {isEmpty ? (
        <Alert color="danger" role="alert">
          {text.empty(version)}
        </Alert>
      ) : (
        <Problems checked={checked} title={text.problems(version)} />
      )}
      <Textarea
        label={text.note}
        description={text.noteAbout}
        maxLength={MAX_NOTE}
        autosize
        minRows={2}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      <DiffView from={workflow} to={content} />
      <Refusal action={send} />
      <Footer>
        <Button variant="default" onClick={close}>
          {words.cancel}
        </Button>
        <Button disabled={isEmpty} loading={send.isPending} onClick={() => send.mutate(undefined)}>
          {text.rollBack(version)}
        </Button>
      </Footer>
    </Stack>
  );
}
