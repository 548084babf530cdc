import { ActionIcon, Button, Group, Popover, Stack, TextInput } from '@mantine/core';
import { IconBookmark, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type SubmitEvent, useState } from 'react';
import { api } from '#console/src/api.ts';
import { views as text } from '#console/src/messages/en/runs/list.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { TextLink } from '#console/src/parts/links.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { runViewsQuery } from '#console/src/queries/workspace.ts';
import { MAX_VIEW_NAME } from '#shared/limits.ts';
import type { RunFilter } from '#console/src/queries/runs.ts';
import { readRunSearch } from './filter.ts';

/** Saved filters: opens, adds and removes them. */
export function ViewsMenu({ filter }: { filter: RunFilter }) {
  const [opened, setOpened] = useState(false);
  const current = queryOf(filter);
  const [seen, setSeen] = useState(current);
  // Opening a view closes the list.
  if (seen !== current) {
    setSeen(current);
    setOpened(false);
  }
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      width="min(360px, calc(100vw - 24px))"
      trapFocus
      shadow="md"
    >
      <Popover.Target>
        <Button
          variant="default"
          leftSection={<IconBookmark size={16} aria-hidden />}
          onClick={() => setOpened((before) => !before)}
        >
          {text.button}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={text.button}>
        <Stack gap="sm">
          <Views current={current} />
          {current === '' ? <Dimmed>{text.setFirst}</Dimmed> : <SaveView filter={current} />}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

function Views({ current }: { current: string }) {
  const { data: views = [] } = useQuery(runViewsQuery);
  const remove = useAction((name: string) => api().removeRunView(name), {
    changes: [runViewsQuery.queryKey],
  });
  if (views.length === 0) return null;
  return (
    <Stack gap={4} component="ul" p={0} m={0} style={{ listStyle: 'none' }}>
      {views.map(({ name, filter }) => (
        <Group key={name} component="li" justify="space-between" wrap="nowrap">
          <TextLink
            to="/runs"
            search={readRunSearch(Object.fromEntries(new URLSearchParams(filter)))}
            aria-current={filter === current ? 'true' : undefined}
          >
            <UserText>{name}</UserText>
          </TextLink>
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={text.remove(name)}
            onClick={() => remove.mutate(name)}
          >
            <IconTrash size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ))}
    </Stack>
  );
}

function SaveView({ filter }: { filter: string }) {
  const [name, setName] = useState('');
  const save = useAction((given: string) => api().saveRunView(given, filter), {
    changes: [runViewsQuery.queryKey],
    onDone: () => setName(''),
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (name.trim() !== '') save.mutate(name.trim());
  };
  return (
    <form onSubmit={submit}>
      <Group gap="xs" align="flex-end" wrap="nowrap">
        <TextInput
          flex={1}
          label={text.name}
          placeholder={text.example}
          maxLength={MAX_VIEW_NAME}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        <Button type="submit" loading={save.isPending} disabled={name.trim() === ''}>
          {text.save}
        </Button>
      </Group>
    </form>
  );
}

/** The filters as the query of the API, always in the same order. */
const queryOf = (filter: RunFilter): string =>
  new URLSearchParams(
    Object.entries(filter as Record<string, string | number | string[] | undefined>).flatMap(
      ([name, value]) => (value === undefined ? [] : [[name, value.toString()]]),
    ),
  ).toString();
