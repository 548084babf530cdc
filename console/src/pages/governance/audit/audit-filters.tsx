import { Button, Group, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useId } from 'react';
import { FilterText } from '../../../parts/forms/filter-text.tsx';
import { membersQuery } from '../../../queries/members.ts';
import { NamedFilter } from '../named-filter.tsx';

const route = getRouteApi('/inside/audit');

/** The most common actions; users can type any other. */
const actions = [
  'create',
  'update',
  'delete',
  'publish',
  'run',
  'approve',
  'reject',
  'decision_refused',
  'gate_timeout',
  'cancel',
  'resume',
  'budget_override',
  'invite',
  'revoke',
  'plan_change',
  'policy_update',
  'price_update',
  'retention_sweep',
];
const targets = [
  'run',
  'workflow',
  'member',
  'api_key',
  'budget',
  'workspace',
  'tool',
  'secret',
  'template',
  'schedule',
  'feed',
  'source',
  'data_key',
  'data_webhook',
  'export',
];

/** The filters of the log. The URL contains them, so that a view can be shared. */
export function AuditFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: members = [] } = useQuery(membersQuery);
  const set = (part: Partial<typeof search>): void =>
    void navigate({ search: { ...search, ...part }, replace: true });
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Audit log">
      <Suggested
        label="Action"
        suggestions={actions}
        value={search.action}
        onChange={(action) => set({ action })}
      />
      <NamedFilter
        label="Actor"
        all="Anyone"
        named={members}
        value={search.actor_id}
        onChange={(actor_id) => set({ actor_id })}
      />
      <Suggested
        label="Target type"
        suggestions={targets}
        value={search.target_type}
        onChange={(target_type) => set({ target_type })}
      />
      <FilterText
        label="Target ID"
        value={search.target_id}
        onChange={(target_id) => set({ target_id })}
      />
      <Instant label="From" value={search.since} onChange={(since) => set({ since })} />
      <Instant label="To" value={search.until} onChange={(until) => set({ until })} />
      {Object.values(search).some(Boolean) && (
        <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/** A text field with the most common values as browser suggestions. */
function Suggested({
  label,
  suggestions,
  value,
  onChange,
}: {
  label: string;
  suggestions: readonly string[];
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const id = useId();
  return (
    <>
      <FilterText label={label} list={id} value={value} onChange={onChange} />
      <datalist id={id}>
        {suggestions.map((suggestion) => (
          <option key={suggestion} value={suggestion} />
        ))}
      </datalist>
    </>
  );
}

/** A minute in the viewer's time zone; the URL contains it in UTC. */
function Instant({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const time = Date.parse(value ?? '');
  return (
    <TextInput
      type="datetime-local"
      label={label}
      value={Number.isNaN(time) ? '' : localMinute(time)}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        onChange(chosen === '' ? undefined : new Date(chosen).toISOString());
      }}
    />
  );
}

/** `2026-11-21T09:30` in the viewer's time zone, the format of the browser's field. */
function localMinute(time: number): string {
  const offset = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offset).toISOString().slice(0, 16);
}
