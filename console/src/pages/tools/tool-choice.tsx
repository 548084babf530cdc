import { Box, Button, Checkbox, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { BodyOf, ToolImport as Imported } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { toolImport as text } from '#console/src/messages/en/workspace/tools.ts';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { Tag } from '#console/src/parts/tag.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { countText } from '#console/src/parts/text/numbers.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { toolsKey } from '#console/src/queries/workspace.ts';
import { type AuthDraft, AuthFields, authOf } from './auth-fields.tsx';

type ListedTool = NonNullable<Imported['listed']>[number];

const stateColors = {
  new: 'success',
  changed: 'warning',
  unchanged: 'gray',
  skipped: 'gray',
} as const satisfies Record<ListedTool['state'], string>;

/** The maximum that one import registers. */
const MOST = { mcp: 200, openapi: 500 } as const;
/** A longer list begins with nothing chosen: few want all of a large API. */
const CHOSEN_AT_FIRST = 50;
const SHOWN = 100;
/** The width of a checkbox and its gap. */
const BELOW_LABEL = 32;

const canImport = ({ state }: ListedTool): boolean => state !== 'skipped';
const idOf = ({ mcp_tool, operation }: ListedTool): string => mcp_tool ?? operation ?? '';

function chosenAtFirst(listed: readonly ListedTool[]): ReadonlySet<string> {
  const news = listed.filter(({ state }) => state === 'new' || state === 'changed');
  return new Set(news.length > CHOSEN_AT_FIRST ? [] : news.map(idOf));
}

const matches = ({ name, description, endpoint }: ListedTool, sought: string): boolean =>
  `${name} ${endpoint ?? ''} ${description}`.toLowerCase().includes(sought.trim().toLowerCase());

/** What a source has, with what an import would do, to choose from. */
export function ToolChoice({
  source,
  found: { listed = [], document, skipped: refused },
  onBack,
  onClose,
}: {
  source: BodyOf<'POST /api/tools/import'>;
  found: Imported;
  onBack: () => void;
  onClose: () => void;
}) {
  const [chosen, setChosen] = useState(() => chosenAtFirst(listed));
  const [skipped, setSkipped] = useState(refused);
  const [auth, setAuth] = useState<AuthDraft>();
  const names = [...chosen];
  const fields = document === undefined ? { names } : { operations: names, ...authOf(auth) };
  const bring = useAction(() => api().importTools({ ...source, ...fields }), {
    changes: [toolsKey],
    quiet: true,
    done: ({ created, updated, unchanged }) =>
      text.imported(created.length + updated.length + unchanged.length),
    onDone: (result) => {
      if (result.skipped.length === 0) onClose();
      else setSkipped(result.skipped);
    },
  });
  const most = MOST[document === undefined ? 'mcp' : 'openapi'];
  return (
    <Form
      action={bring}
      submit={text.submit(names.length)}
      onCancel={onClose}
      ready={names.length > 0 && names.length <= most}
    >
      <Group justify="space-between">
        <Text size="sm">
          {text.found(listed.length)}
          {document !== undefined && (
            <>
              {' · '}
              <UserText>{text.ofDocument(document.title, document.version)}</UserText>
            </>
          )}
        </Text>
        <Button variant="subtle" size="compact-sm" onClick={onBack}>
          {text.back}
        </Button>
      </Group>
      {document !== undefined && document.beyond_limit > 0 && (
        <Dimmed size="sm">{text.unlisted(document.beyond_limit)}</Dimmed>
      )}
      {document !== undefined && (
        <AuthFields schemes={document.security_schemes} value={auth} onChange={setAuth} />
      )}
      <Choices listed={listed} chosen={chosen} onChange={setChosen} />
      {names.length > most && (
        <Text size="sm" c="danger" role="alert">
          {text.tooMany(countText(most))}
        </Text>
      )}
      {skipped.length > 0 && <NotImported skipped={skipped} />}
    </Form>
  );
}

function Choices({
  listed,
  chosen,
  onChange,
}: {
  listed: readonly ListedTool[];
  chosen: ReadonlySet<string>;
  onChange: (chosen: ReadonlySet<string>) => void;
}) {
  const [sought, setSought] = useState('');
  const [shown, setShown] = useState(SHOWN);
  const found = listed.filter((tool) => matches(tool, sought));
  const usable = found.filter(canImport).map(idOf);
  const all = usable.length > 0 && usable.every((id) => chosen.has(id));
  const some = usable.some((id) => chosen.has(id));
  const set = (ids: readonly string[], isChosen: boolean): void => {
    const next = new Set(chosen);
    for (const id of ids) {
      if (isChosen) next.add(id);
      else next.delete(id);
    }
    onChange(next);
  };
  return (
    <>
      {listed.length > 10 && (
        <TextInput
          type="search"
          label={text.filter}
          value={sought}
          onChange={({ currentTarget: { value } }) => setSought(value)}
        />
      )}
      {usable.length > 1 && (
        <Checkbox
          label={sought.trim() === '' ? text.all : text.allFound}
          checked={all}
          indeterminate={!all && some}
          onChange={() => set(usable, !all)}
        />
      )}
      <Stack gap="xs" role="group" aria-label={text.tools} mah="50vh" style={{ overflowY: 'auto' }}>
        {found.slice(0, shown).map((tool) => (
          <Row
            key={idOf(tool)}
            tool={tool}
            checked={chosen.has(idOf(tool))}
            onChange={() => set([idOf(tool)], !chosen.has(idOf(tool)))}
          />
        ))}
        {found.length === 0 && <Dimmed size="sm">{text.noMatch}</Dimmed>}
        {found.length > shown && (
          <Button variant="subtle" size="compact-sm" onClick={() => setShown(shown + SHOWN)}>
            {words.showMore}
          </Button>
        )}
      </Stack>
    </>
  );
}

function NotImported({ skipped }: { skipped: Imported['skipped'] }) {
  return (
    <Stack gap={4} role="status" mah="20vh" style={{ overflowY: 'auto' }}>
      <Text size="sm">{text.notImported}</Text>
      {skipped.map(({ name, reason }) => (
        <Text size="sm" key={name}>
          <Code>{name}</Code> <UserText>{reason}</UserText>
        </Text>
      ))}
    </Stack>
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
  const { name, description, endpoint, input_schema: schema, state, reason } = tool;
  return (
    <Box>
      <Group justify="space-between" wrap="nowrap" align="flex-start">
        <Checkbox
          label={<UserText>{name === '' ? idOf(tool) : name}</UserText>}
          description={
            description === '' ? undefined : (
              <Text span inherit lineClamp={2}>
                <UserText>{description}</UserText>
              </Text>
            )
          }
          checked={checked}
          disabled={!canImport(tool)}
          onChange={onChange}
        />
        <Tag color={stateColors[state]}>{text.states[state]}</Tag>
      </Group>
      <Box pl={BELOW_LABEL}>
        {endpoint !== null && (
          <Code>
            <UserText>{endpoint}</UserText>
          </Code>
        )}
        {reason !== undefined && <Dimmed size="xs">{reason}</Dimmed>}
        {schema !== null && (
          <details>
            <Text component="summary" size="xs">
              {text.schema}
            </Text>
            <JsonView value={schema} what={text.whatSchema(idOf(tool))} />
          </details>
        )}
      </Box>
    </Box>
  );
}
