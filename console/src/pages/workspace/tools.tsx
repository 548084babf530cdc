import { Button, Modal, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { CustomTool } from '../../../../client/index.ts';
import { apiUrl } from '../../document.ts';
import { Empty } from '../../parts/empty.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Snippet } from '../../parts/code/snippet.tsx';
import { useIdentity, useMay } from '../../queries/identity.ts';
import { toolsQuery } from '../../queries/tools.ts';
import { ToolCard } from './tool-card.tsx';
import { ToolForm } from './tool-form.tsx';

/** The custom tools of workflows, and the URL where models find the workflows. */
export function ToolsPage() {
  const tools = useQuery(toolsQuery);
  const mayEdit = useMay('create_edit_workflows');
  const [form, setForm] = useState<{ tool: CustomTool | undefined }>();
  const create = mayEdit && (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setForm({ tool: undefined })}>
      New tool
    </Button>
  );
  return (
    <Page
      title="Tools"
      about="Custom tools that workflows call as custom:name, in addition to the built-in tools."
      actions={create}
    >
      <Section title="Custom tools">
        <Loaded query={tools}>
          {(list) =>
            list.length === 0 ? (
              <Empty title="No custom tools yet">
                <Text size="sm" c="dimmed">
                  {mayEdit
                    ? 'Add an HTTP endpoint or an MCP server tool. Its secrets are encrypted.'
                    : 'You need the create_edit_workflows permission to add one.'}
                </Text>
              </Empty>
            ) : (
              <Stack gap="md">
                {list.map((tool) => (
                  <ToolCard key={tool.id} tool={tool} onEdit={() => setForm({ tool })} />
                ))}
              </Stack>
            )
          }
        </Loaded>
      </Section>
      <McpAddress />
      <Modal
        opened={form !== undefined}
        onClose={() => setForm(undefined)}
        title={form?.tool === undefined ? 'New tool' : 'Edit tool'}
        size="lg"
        closeOnClickOutside={false}
      >
        {form !== undefined && <ToolForm tool={form.tool} onClose={() => setForm(undefined)} />}
      </Modal>
    </Page>
  );
}

function McpAddress() {
  const { credential } = useIdentity();
  const url = `${apiUrl}/api/mcp`;
  return (
    <Section title="MCP server">
      <Text size="sm" c="dimmed">
        Models can find, run and monitor the workflows of this workspace with the Model Context
        Protocol. Use any MCP client that supports streamable HTTP.
      </Text>
      <Snippet text={url} what="the MCP URL" />
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
        what="the configuration of an MCP client"
      />
      {credential !== 'none' && (
        <Text size="sm">
          Use an{' '}
          <TextLink to="/keys" underline="always">
            API key
          </TextLink>
          . Its role limits what the model can do.
        </Text>
      )}
    </Section>
  );
}
