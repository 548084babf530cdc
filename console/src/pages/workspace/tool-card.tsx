import { Button, Card, Code, Collapse, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { CustomTool } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { confirm } from '../../parts/forms/confirm.tsx';
import { Copy } from '../../parts/code/copy.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { JsonView } from '../../parts/code/json-view.tsx';
import { Tag } from '../../parts/tag.tsx';
import { When } from '../../parts/text/time.tsx';
import { useMay } from '../../queries/identity.ts';
import { toolsKey } from '../../queries/tools.ts';
import { ToolTrial } from './tool-trial.tsx';

/** One tool: its endpoint, its settings and its actions. */
export function ToolCard({ tool, onEdit }: { tool: CustomTool; onEdit: () => void }) {
  const [opened, setOpened] = useState(false);
  const called = `custom:${tool.name}`;
  const headers = Object.keys(tool.headers);
  return (
    <Card withBorder component="article" aria-label={called}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Title order={3} size="h5">
              <UserText>{tool.label === '' ? tool.name : tool.label}</UserText>
            </Title>
            <Tag>{tool.kind === 'mcp' ? 'MCP' : tool.method}</Tag>
          </Group>
          <ToolActions tool={tool} onEdit={onEdit} />
        </Group>
        {tool.description !== '' && (
          <Text size="sm">
            <UserText>{tool.description}</UserText>
          </Text>
        )}
        <Text size="sm" component="div">
          <Code>{called}</Code> <Copy text={called} what="the tool name" /> calls{' '}
          <UserText>{tool.endpoint_url}</UserText>
          {tool.mcp_tool !== null && (
            <>
              , tool <UserText>{tool.mcp_tool}</UserText>
            </>
          )}
        </Text>
        <Text size="xs" c="dimmed">
          Timeout {tool.timeout_seconds} s · up to {tool.retry_count}{' '}
          {tool.retry_count === 1 ? 'retry' : 'retries'}
          {headers.length > 0 && (
            <>
              {' '}
              · sends <UserText>{headers.join(', ')}</UserText>
            </>
          )}{' '}
          · updated <When at={tool.updated_at} ago />
        </Text>
        <Group>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            {opened ? 'Hide details' : 'Show schema and test'}
          </Button>
        </Group>
        <Collapse expanded={opened}>{opened && <Details tool={tool} />}</Collapse>
      </Stack>
    </Card>
  );
}

function Details({ tool }: { tool: CustomTool }) {
  const mayEdit = useMay('create_edit_workflows');
  return (
    <Stack gap="sm">
      {tool.input_schema === null ? (
        <Text size="sm" c="dimmed">
          No schema. The tool accepts any arguments.
        </Text>
      ) : (
        <JsonView value={tool.input_schema} what={`the schema of ${tool.name}`} />
      )}
      {mayEdit && <ToolTrial tool={tool} />}
    </Stack>
  );
}

function ToolActions({ tool, onEdit }: { tool: CustomTool; onEdit: () => void }) {
  const remove = useAction((id: string) => api().deleteTool(id), {
    changes: [toolsKey],
    done: 'Tool deleted',
  });
  if (!useMay('create_edit_workflows')) return null;
  const ask = (): void =>
    confirm({
      title: 'Delete this tool?',
      consequence: (
        <>
          Workflows that call <UserText>custom:{tool.name}</UserText> can no longer start, and runs
          that reach it fail. To fix them, create a tool with the same name.
        </>
      ),
      confirmLabel: 'Delete tool',
      onConfirm: () => remove.mutate(tool.id),
    });
  return (
    <Group gap="xs">
      <Button size="compact-sm" variant="default" onClick={onEdit} aria-label={`Edit ${tool.name}`}>
        Edit
      </Button>
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        onClick={ask}
        loading={remove.isPending}
        aria-label={`Delete ${tool.name}`}
      >
        Delete
      </Button>
    </Group>
  );
}
