import { Button, Collapse, Group, Paper, Stack, Table, Title } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Change, EntityHistory as HistoryPage } from '#client/index.ts';
import { entityHistory as text } from '#console/src/messages/en/data/records.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { JsonView } from '#console/src/parts/code/json-view.tsx';
import { LoadMore } from '#console/src/parts/data/load-more.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { When } from '#console/src/parts/text/time.tsx';
import { historyQuery } from '#console/src/queries/data.ts';
import { RowTable } from '#console/src/parts/data/row-table.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { Value } from './value.tsx';

type Version = HistoryPage['versions'][number];

/** The versions of a record, newest first, each with its changes. */
export function EntityHistory({ entityId }: { entityId: string }) {
  const history = useInfiniteQuery(historyQuery(entityId));
  return (
    <Loaded query={history}>
      {({ pages }) => (
        <Stack gap="sm">
          {pages.flatMap(({ versions, changes }) =>
            versions.map((version) => (
              <VersionCard
                key={version.version}
                version={version}
                changes={changes.filter((change) => change.version === version.version)}
              />
            )),
          )}
          <LoadMore query={history} />
        </Stack>
      )}
    </Loaded>
  );
}

function VersionCard({ version, changes }: { version: Version; changes: readonly Change[] }) {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <Paper withBorder p="sm">
      <Stack gap="xs">
        <Group justify="space-between" gap="xs">
          <Title order={3} size="h6">
            {text.version(version.version)}
          </Title>
          <Group gap="xs">
            <Dimmed>
              <When at={version.changed_at} />
            </Dimmed>
            <Button size="compact-xs" variant="default" aria-expanded={opened} onClick={toggle}>
              {opened ? text.hideAttributes : text.showAttributes}
            </Button>
          </Group>
        </Group>
        {changes.length > 0 ? (
          <RowTable
            label={text.changesIn(version.version)}
            columns={[text.attribute, text.before, text.after]}
            minWidth={420}
          >
            {changes.map((change) => (
              <ChangeRow key={change.id} change={change} />
            ))}
          </RowTable>
        ) : (
          <Dimmed>
            {version.version === 1
              ? text.created
              : version.changed.length > 0
                ? text.changed(version.changed.join(', '))
                : text.unchanged}
          </Dimmed>
        )}
        <Collapse expanded={opened}>
          {opened && (
            <JsonView value={version.attributes} what={text.attributesOf(version.version)} />
          )}
        </Collapse>
      </Stack>
    </Paper>
  );
}

function ChangeRow({ change }: { change: Change }) {
  return (
    <Table.Tr>
      <Table.Th scope="row" fw={500} w="24%">
        <UserText>{change.attribute}</UserText>
      </Table.Th>
      <Table.Td w="38%">
        <Value of={change.old_value} what={text.attributeBefore(change.attribute)} />
      </Table.Td>
      <Table.Td w="38%">
        <Value of={change.new_value} what={text.attributeAfter(change.attribute)} />
      </Table.Td>
    </Table.Tr>
  );
}
