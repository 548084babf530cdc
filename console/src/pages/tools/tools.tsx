import { Button, Group, Modal, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { CustomTool } from '#client/index.ts';
import { apiUrl } from '#console/src/document.ts';
import { toolImport, tools as text } from '#console/src/messages/en/workspace/tools.ts';
import { Message } from '#console/src/messages/message.tsx';
import { NewButton } from '#console/src/parts/forms/new-button.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { LoadingCards } from '#console/src/parts/loading.tsx';
import { Page, Section } from '#console/src/parts/page.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Snippet } from '#console/src/parts/code/snippet.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useIdentity, useMay } from '#console/src/queries/identity.ts';
import { connectionsQuery, toolsQuery } from '#console/src/queries/workspace.ts';
import { sourceAt } from './tool-source.ts';
import { ToolList } from './tool-list.tsx';
import { ToolForm } from './tool-form.tsx';
import { ToolImport } from './tool-import.tsx';

const route = getRouteApi('/inside/tools');

/** The custom tools of workflows, and the URL where models find the workflows. */
export function ToolsPage() {
  const tools = useQuery(toolsQuery);
  const mayEdit = useMay('create_edit_workflows');
  const [form, setForm] = useState<{ tool: CustomTool | undefined }>();
  const { import: connection } = route.useSearch();
  const navigate = route.useNavigate();
  const [imports, setImports] = useState(false);
  const { data: connections = [] } = useQuery({
    ...connectionsQuery,
    enabled: connection !== undefined,
  });
  const server = connections.find(({ name }) => name === connection)?.resource ?? undefined;
  const isImporting = mayEdit && (imports || server !== undefined);
  const endImport = (): void => {
    setImports(false);
    if (connection !== undefined) void navigate({ search: {}, replace: true });
  };
  const create = mayEdit && (
    <Group gap="xs">
      <Button variant="default" onClick={() => setImports(true)}>
        {toolImport.open}
      </Button>
      <NewButton onClick={() => setForm({ tool: undefined })}>{text.new}</NewButton>
    </Group>
  );
  return (
    <Page title={text.title} about={text.about} actions={create}>
      <Section title={text.custom}>
        <Loaded query={tools} loading={<LoadingCards cards={2} height={130} />}>
          {(list) =>
            list.length === 0 ? (
              <Empty {...text.empty} missing={!mayEdit && 'create_edit_workflows'}>
                {mayEdit && (
                  <Button onClick={() => setForm({ tool: undefined })}>{text.empty.create}</Button>
                )}
              </Empty>
            ) : (
              <ToolList tools={list} onEdit={(tool) => setForm({ tool })} />
            )
          }
        </Loaded>
      </Section>
      <McpAddress />
      <Modal
        opened={isImporting}
        onClose={endImport}
        title={toolImport.title}
        size="lg"
        closeOnClickOutside={false}
      >
        {isImporting && (
          <ToolImport
            key={server}
            {...(server === undefined || connection === undefined
              ? {}
              : { initial: sourceAt(server, connection) })}
            onClose={endImport}
          />
        )}
      </Modal>
      <Modal
        opened={form !== undefined}
        onClose={() => setForm(undefined)}
        title={form?.tool === undefined ? text.new : text.editTitle}
        size="lg"
        closeOnClickOutside={false}
      >
        {form !== undefined && <ToolForm record={form.tool} onClose={() => setForm(undefined)} />}
      </Modal>
    </Page>
  );
}

function McpAddress() {
  const { credential } = useIdentity();
  const url = `${apiUrl}/api/mcp`;
  return (
    <Section title={text.mcp.title}>
      <Dimmed>{text.mcp.about}</Dimmed>
      <Snippet text={url} what={text.mcp.whatUrl} />
      <Snippet
        text={JSON.stringify(
          {
            mcpServers: {
              workflows: {
                type: 'http',
                url,
                ...(credential !== 'none' && { headers: { 'X-API-Key': 'ops_...' } }),
              },
            },
          },
          null,
          2,
        )}
        what={text.mcp.whatConfiguration}
      />
      {credential !== 'none' && (
        <Text size="sm">
          <Message
            text={text.mcp.useKey}
            values={{
              key: (
                <TextLink to="/keys" underline="always">
                  {text.mcp.key}
                </TextLink>
              ),
            }}
          />
        </Text>
      )}
    </Section>
  );
}
