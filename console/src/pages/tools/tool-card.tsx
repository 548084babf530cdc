import { Box, Button, Card, Code, Collapse, Group, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { CustomTool } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { toolCard as text } from '#console/src/messages/en/workspace/tools.ts';
import { Message } from '#console/src/messages/message.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ActionButton } from '#console/src/parts/forms/action-button.tsx';
import { Copy } from '#console/src/parts/code/copy.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { Tag } from '#console/src/parts/tag.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useMay } from '#console/src/queries/identity.ts';
import { toolsKey } from '#console/src/queries/workspace.ts';
import { ToolRefresh } from './tool-refresh.tsx';
import { ToolTrial } from './tool-trial.tsx';

/** One tool: its endpoint, its settings and its actions. */
export function ToolCard({ tool, onEdit }: { tool: CustomTool; onEdit: () => void }) {
  const [opened, setOpened] = useState(false);
  const called = `custom:${tool.name}`;
  const headers = Object.keys(tool.headers);
  const description = belowTitle(tool);
  return (
    <Card withBorder component="article" aria-label={called}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Group gap="xs">
            <Title order={3} size="h5">
              <UserText>{tool.label === '' ? tool.name : tool.label}</UserText>
            </Title>
            <Tag>{tool.kind === 'http' ? tool.method : text[tool.kind]}</Tag>
            {tool.changed && <Tag color="warning">{text.changed}</Tag>}
          </Group>
          <ToolActions tool={tool} onEdit={onEdit} />
        </Group>
        {description !== '' && (
          <Text size="sm" {...(!opened && { lineClamp: 4 })}>
            <UserText>{description}</UserText>
          </Text>
        )}
        <Text size="sm" component="div">
          <Calls tool={tool} called={called} />
        </Text>
        <Dimmed size="xs">
          {text.timeout(countText(tool.timeout_seconds))}
          {' · '}
          {text.retries(tool.retry_count)}
          {headers.length > 0 && (
            <>
              {' · '}
              <Message text={text.sends} values={{ headers: headers.join(', ') }} />
            </>
          )}
          {tool.auth !== null && (
            <>
              {' · '}
              <Message
                text={text.authenticates}
                values={{ name: tool.auth.secret ?? tool.auth.connection ?? '' }}
              />
            </>
          )}
          {' · '}
          <Message text={text.updated} values={{ when: <When at={tool.updated_at} ago /> }} />
        </Dimmed>
        <Group>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-expanded={opened}
            onClick={() => setOpened(!opened)}
          >
            {opened ? text.hideDetails : text.showDetails}
          </Button>
        </Group>
        <Collapse expanded={opened}>{opened && <Details tool={tool} />}</Collapse>
      </Stack>
    </Card>
  );
}

/** The description without the title, with which that of an imported operation begins. */
const belowTitle = ({ label, description }: CustomTool): string =>
  (label !== '' && description.startsWith(label)
    ? description.slice(label.length)
    : description
  ).trim();

function Calls({
  tool: { kind, endpoint_url, mcp_tool },
  called,
}: {
  tool: CustomTool;
  called: string;
}) {
  const name = (
    <>
      <Code>{called}</Code> <Copy text={called} what={text.whatName} />
    </>
  );
  if (kind === 'code') return <Message text={text.computes} values={{ name }} />;
  const url = <UserText>{endpoint_url}</UserText>;
  if (mcp_tool === null) return <Message text={text.calls} values={{ name, url }} />;
  return <Message text={text.callsTool} values={{ name, url, tool: mcp_tool }} />;
}

function Details({ tool }: { tool: CustomTool }) {
  const mayEdit = useMay('create_edit_workflows');
  return (
    <Stack gap="sm">
      {tool.source !== null && (
        <Box component="pre" m={0} style={{ overflowX: 'auto' }} fz="xs" tabIndex={0}>
          <UserText>{tool.source}</UserText>
        </Box>
      )}
      {tool.input_schema === null ? (
        <Dimmed>{text.noSchema}</Dimmed>
      ) : (
        <JsonView value={tool.input_schema} what={text.whatSchema(tool.name)} />
      )}
      {tool.request !== null && (
        <>
          <Text size="sm">{text.request}</Text>
          <JsonView value={tool.request} what={text.whatRequest(tool.name)} />
        </>
      )}
      {mayEdit && <ToolTrial tool={tool} />}
    </Stack>
  );
}

function ToolActions({ tool, onEdit }: { tool: CustomTool; onEdit: () => void }) {
  const remove = useAction(({ id, etag }: CustomTool) => api().deleteTool(id, { ifMatch: etag }), {
    changes: [toolsKey],
    done: text.deleted,
  });
  if (!useMay('create_edit_workflows')) return null;
  return (
    <Group gap="xs">
      {tool.request !== null && <ToolRefresh tool={tool} />}
      <Button
        size="compact-sm"
        variant="default"
        onClick={onEdit}
        aria-label={text.editTool(tool.name)}
      >
        {words.edit}
      </Button>
      <ActionButton
        size="compact-sm"
        action={remove}
        input={tool}
        ask={{ ...text.confirmDelete, values: { name: `custom:${tool.name}` } }}
        aria-label={text.deleteTool(tool.name)}
      >
        {words.delete}
      </ActionButton>
    </Group>
  );
}
