import { Box, Button, Checkbox, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { BodyOf, ToolImport as Imported } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { toolImport as text } from '#console/src/messages/en/workspace/tools.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { toolsKey } from '#console/src/queries/workspace.ts';
import { HeaderFields } from './header-fields.tsx';
import { type HeaderDraft, headerProblem, headersOf, urlProblem } from './tool-draft.ts';

type Listed = NonNullable<Imported['listed']>;
type ListedTool = Listed[number];

const stateColors = {
  new: 'success',
  changed: 'warning',
  unchanged: 'gray',
  skipped: 'gray',
} as const satisfies Record<ListedTool['state'], string>;

/** Lists the tools of an MCP server, and registers those that are chosen. */
export function ToolImport({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState('');
  const [prefix, setPrefix] = useState('');
  const [headers, setHeaders] = useState<HeaderDraft[]>([]);
  const [listed, setListed] = useState<Listed>();
  const server: BodyOf<'POST /api/tools/import'> = {
    server_url: url,
    headers: headersOf(headers),
    ...(prefix === '' ? {} : { prefix }),
  };
  const list = useAction(() => api().importTools({ ...server, only_list: true }), {
    changes: [],
    quiet: true,
    onDone: ({ listed: found = [] }) => setListed(found),
  });
  if (listed !== undefined) {
    return <Choose {...{ server, listed, onClose }} onBack={() => setListed(undefined)} />;
  }
  const problems = { url: urlProblem(url), headers: headerProblem(headers) };
  const ready = url !== '' && problems.url === undefined && problems.headers === undefined;
  return (
    <Form action={list} submit={text.list} onCancel={onClose} ready={ready}>
      <TextInput
        type="url"
        label={text.url}
        placeholder="https://tools.example.com/mcp"
        maxLength={2_000}
        required
        data-autofocus
        value={url}
        onChange={({ currentTarget: { value } }) => setUrl(value)}
        error={problems.url}
      />
      <HeaderFields headers={headers} onChange={setHeaders} problem={problems.headers} />
      <TextInput
        label={text.prefix}
        description={text.aboutPrefix}
        placeholder="crm_"
        maxLength={32}
        value={prefix}
        onChange={({ currentTarget: { value } }) => setPrefix(value)}
      />
    </Form>
  );
}

const canImport = ({ state }: ListedTool): boolean => state !== 'skipped';

function Choose({
  server,
  listed,
  onBack,
  onClose,
}: {
  server: BodyOf<'POST /api/tools/import'>;
  listed: Listed;
  onBack: () => void;
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () =>
      new Set(
        listed.flatMap(({ state, mcp_tool }) =>
          state === 'new' || state === 'changed' ? [mcp_tool] : [],
        ),
      ),
  );
  const [skipped, setSkipped] = useState<readonly { name: string; reason: string }[]>([]);
  const names = [...chosen];
  const bring = useAction(() => api().importTools({ ...server, names }), {
    changes: [toolsKey],
    quiet: true,
    done: ({ created, updated, unchanged }) =>
      text.imported(created.length + updated.length + unchanged.length),
    onDone: (result) => {
      if (result.skipped.length === 0) onClose();
      else setSkipped(result.skipped);
    },
  });
  const usable = listed.filter(canImport);
  const all = usable.length > 0 && usable.every(({ mcp_tool }) => chosen.has(mcp_tool));
  const toggle = (name: string): void => {
    const next = new Set(chosen);
    if (!next.delete(name)) next.add(name);
    setChosen(next);
  };
  return (
    <Form
      action={bring}
      submit={text.submit(names.length)}
      onCancel={onClose}
      ready={names.length > 0}
    >
      <Group justify="space-between">
        <Text size="sm">{text.found(listed.length)}</Text>
        <Button variant="subtle" size="compact-sm" onClick={onBack}>
          {text.back}
        </Button>
      </Group>
      {usable.length > 1 && (
        <Checkbox
          label={text.all}
          checked={all}
          indeterminate={!all && names.length > 0}
          onChange={() => setChosen(new Set(all ? [] : usable.map(({ mcp_tool }) => mcp_tool)))}
        />
      )}
      <Stack gap="xs" role="group" aria-label={text.tools} mah="50vh" style={{ overflowY: 'auto' }}>
        {listed.map((tool) => (
          <Row
            key={tool.mcp_tool}
            tool={tool}
            checked={chosen.has(tool.mcp_tool)}
            onChange={() => toggle(tool.mcp_tool)}
          />
        ))}
      </Stack>
      {skipped.length > 0 && (
        <Stack gap={4} role="status">
          <Text size="sm">{text.notImported}</Text>
          {skipped.map(({ name, reason }) => (
            <Text size="sm" key={name}>
              <Code>{name}</Code> <UserText>{reason}</UserText>
            </Text>
          ))}
        </Stack>
      )}
    </Form>
  );
}

function Row({
  tool,
  checked,
  onChange,
}: {
  tool: ListedTool;
  checked: boolean;
  onChange: () => void;
}) {
  const { mcp_tool, name, description, input_schema: schema, state, reason } = tool;
  return (
    <Box>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Checkbox
          label={<UserText>{name === '' ? mcp_tool : name}</UserText>}
          description={description === '' ? undefined : <UserText>{description}</UserText>}
          checked={checked}
          disabled={!canImport(tool)}
          onChange={onChange}
        />
        <Tag color={stateColors[state]}>{text.states[state]}</Tag>
      </Group>
      {reason !== undefined && <Dimmed size="xs">{reason}</Dimmed>}
      {schema !== null && (
        <details>
          <Text component="summary" size="xs">
            {text.schema}
          </Text>
          <JsonView value={schema} what={text.whatSchema(mcp_tool)} />
        </details>
      )}
    </Box>
  );
}
