import { Alert, FileInput, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { CustomTool, ToolRefresh as Refreshed } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { toolRefresh as text } from '#console/src/messages/en/workspace/tools.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { ModalButton } from '#console/src/parts/forms/modal-button.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { toolsKey } from '#console/src/queries/workspace.ts';

/** Compares a tool with its API document, and accepts what has changed. */
export const ToolRefresh = ({ tool }: { tool: CustomTool }) => (
  <ModalButton label={text.check} title={text.title} width="lg" size="compact-sm">
    {(close) => <Comparison tool={tool} onClose={close} />}
  </ModalButton>
);

function Comparison({ tool, onClose }: { tool: CustomTool; onClose: () => void }) {
  const [file, setFile] = useState<File | null>(null);
  const [found, setFound] = useState<Refreshed>();
  const compare = useAction(
    async () => api().refreshTool(tool.id, file === null ? {} : { openapi: await file.text() }),
    { changes: [toolsKey], quiet: true, onDone: setFound },
  );
  const accept = useAction(() => api().refreshTool(tool.id, { accept: found?.digest ?? '' }), {
    changes: [toolsKey],
    quiet: true,
    done: text.accepted,
    onDone: onClose,
  });
  if (found === undefined) {
    return (
      <Form
        action={compare}
        submit={text.compare}
        onCancel={onClose}
        ready={tool.document_url !== null || file !== null}
      >
        {tool.document_url === null ? (
          <FileInput
            label={text.file}
            description={text.aboutFile}
            accept=".json,.yaml,.yml,application/json,application/yaml"
            value={file}
            onChange={setFile}
          />
        ) : (
          <Text size="sm">
            <UserText>{tool.document_url}</UserText>
          </Text>
        )}
      </Form>
    );
  }
  if (found.digest === null) {
    return (
      <Alert color={found.state === 'gone' ? 'warning' : 'success'} role="status">
        {found.state === 'gone' ? text.gone : text.unchanged}
      </Alert>
    );
  }
  return (
    <Form action={accept} submit={text.accept} onCancel={onClose}>
      <Alert color={found.tool.changed ? 'warning' : 'gray'} role="status">
        {found.tool.changed ? text.blocks : text.texts}
      </Alert>
      {found.changes.map((change) => (
        <Change key={change.field} {...change} />
      ))}
    </Form>
  );
}

function Change({ field, before, after }: Refreshed['changes'][number]) {
  const name = text.fields[field];
  return (
    <Stack gap={4}>
      <Title order={3} size="h6">
        {name}
      </Title>
      <Text size="xs">{text.before}</Text>
      <Value value={before} what={text.whatBefore(name.toLowerCase())} />
      <Text size="xs">{text.after}</Text>
      <Value value={after} what={text.whatAfter(name.toLowerCase())} />
    </Stack>
  );
}

const Value = ({ value, what }: { value: unknown; what: string }) =>
  typeof value === 'string' ? (
    <Text size="sm">
      <UserText>{value}</UserText>
    </Text>
  ) : (
    <JsonView value={value} what={what} />
  );
