import { Button, Card, Group, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { AlertSettings } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { alertsForm as text } from '#console/src/messages/en/workspace/alerts.ts';
import { AddSelect } from '#console/src/parts/forms/add-select.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { AddressesInput, EventsInput } from './alert-inputs.tsx';

type Workflows = AlertSettings['workflows'];
type Own = Workflows[string];
type Events = AlertSettings['on'];

/** What differs for the runs of single workflows. */
export function WorkflowAlerts({
  hasSlack,
  workflows,
  events,
  onChange,
}: {
  hasSlack: boolean;
  workflows: Workflows;
  /** Those of the workspace. */
  events: Events;
  onChange: (workflows: Workflows) => void;
}) {
  const { data: all = [] } = useQuery(workflowsQuery);
  const nameOf = (id: string): string => all.find((each) => each.id === id)?.name ?? id;
  const chosen = Object.entries(workflows);
  const without = (id: string): Workflows =>
    Object.fromEntries(chosen.filter(([other]) => other !== id));
  return (
    <Stack gap="sm" align="stretch">
      {chosen.map(([id, own]) => (
        <WorkflowCard
          key={id}
          name={nameOf(id)}
          hasSlack={hasSlack}
          own={own}
          events={events}
          onChange={(next) => onChange({ ...workflows, [id]: next })}
          onRemove={() => onChange(without(id))}
        />
      ))}
      <AddSelect
        label={text.workflows}
        placeholder={text.addWorkflow}
        nothingFoundMessage={text.noWorkflow}
        data={all
          .filter(({ id }) => !(id in workflows))
          .map(({ id, name }) => ({ value: id, label: name }))}
        onAdd={(id) => onChange({ ...workflows, [id]: { on: events } })}
      />
      <Dimmed size="xs">{text.workflowsAbout}</Dimmed>
    </Stack>
  );
}

function WorkflowCard({
  name,
  hasSlack,
  own,
  events,
  onChange,
  onRemove,
}: {
  name: string;
  hasSlack: boolean;
  own: Own;
  events: Events;
  onChange: (own: Own) => void;
  onRemove: () => void;
}) {
  /** Requests leave out the fields that are turned off. */
  const change = (part: Partial<Own>): void => onChange({ ...own, ...part });
  return (
    <Card withBorder role="group" aria-label={text.settingsOf(name)}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text fw={600}>
            <UserText>{name}</UserText>
          </Text>
          <Button
            variant="light"
            color="danger"
            aria-label={text.removeFor(name)}
            onClick={onRemove}
          >
            {words.remove}
          </Button>
        </Group>
        <Switch
          label={text.ownEvents}
          checked={own.on !== undefined}
          onChange={({ currentTarget: { checked } }) =>
            change({ on: checked ? events : undefined })
          }
        />
        {own.on !== undefined && (
          <EventsInput label={text.on} value={own.on} onChange={(on) => change({ on })} />
        )}
        <Switch
          label={text.ownEmail}
          checked={own.email !== undefined}
          onChange={({ currentTarget: { checked } }) => change({ email: checked ? [] : undefined })}
        />
        {own.email !== undefined && (
          <AddressesInput
            label={text.email}
            description={text.ownEmailAbout}
            value={own.email}
            onChange={(email) => change({ email })}
          />
        )}
        {hasSlack && (
          <TextInput
            label={text.ownSlack}
            placeholder="C0123456789"
            maxLength={32}
            value={own.slack?.channel ?? ''}
            onChange={({ currentTarget: { value } }) =>
              change({ slack: value.trim() === '' ? undefined : { channel: value.trim() } })
            }
          />
        )}
        <TextInput
          label={text.ownChat}
          type="url"
          maxLength={2_000}
          value={own.chat_webhook_url ?? ''}
          onChange={({ currentTarget: { value } }) =>
            change({ chat_webhook_url: value === '' ? undefined : value })
          }
        />
      </Stack>
    </Card>
  );
}
