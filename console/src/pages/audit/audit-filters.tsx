import { Button, Group, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useId } from 'react';
import { auditActions, auditTargets } from '#shared/contract/audit/audit.ts';
import { auditFilters } from '#console/src/messages/en/governance/audit.ts';
import { FilterText } from '#console/src/parts/forms/filter-text.tsx';
import { membersQuery } from '#console/src/queries/members.ts';
import { NamedFilter } from '#console/src/pages/policies/named-filter.tsx';
import { localTime } from '#console/src/parts/text/times.ts';

const route = getRouteApi('/inside/audit');

/** The filters of the log. The URL contains them, so that a view can be shared. */
export function AuditFilters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: members = [] } = useQuery(membersQuery);
  const set = (part: Partial<typeof search>): void =>
    void navigate({ search: { ...search, ...part }, replace: true });
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label={auditFilters.search}>
      <Suggested
        label={auditFilters.action}
        texts={auditActions}
        value={search.action}
        onChange={(action) => set({ action })}
      />
      <NamedFilter
        label={auditFilters.actor}
        all={auditFilters.anyone}
        named={members}
        value={search.actor_id}
        onChange={(actor_id) => set({ actor_id })}
      />
      <Suggested
        label={auditFilters.targetType}
        texts={auditTargets}
        value={search.target_type}
        onChange={(target_type) => set({ target_type })}
      />
      <FilterText
        label={auditFilters.targetId}
        value={search.target_id}
        onChange={(target_id) => set({ target_id })}
      />
      <Instant
        label={auditFilters.from}
        value={search.since}
        onChange={(since) => set({ since })}
      />
      <Instant label={auditFilters.to} value={search.until} onChange={(until) => set({ until })} />
      {Object.values(search).some(Boolean) && (
        <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
          {auditFilters.clear}
        </Button>
      )}
    </Group>
  );
}

/** A text field with the names and texts of all values as browser suggestions. */
function Suggested({
  label,
  texts,
  value,
  onChange,
}: {
  label: string;
  texts: Readonly<Record<string, string>>;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const id = useId();
  return (
    <>
      <FilterText
        label={label}
        list={id}
        value={value}
        onChange={(typed) => onChange(typed && nameOf(texts, typed))}
      />
      <datalist id={id}>
        {Object.entries(texts).map(([name, text]) => (
          <option key={name} value={name} label={text} />
        ))}
      </datalist>
    </>
  );
}

/** The name that has this text, as the table shows it, or what was typed. */
function nameOf(texts: Readonly<Record<string, string>>, typed: string): string {
  const wanted = typed.trim().toLowerCase();
  return Object.entries(texts).find(([, text]) => text.toLowerCase() === wanted)?.[0] ?? typed;
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
      value={Number.isNaN(time) ? '' : localTime(time)}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        onChange(chosen === '' ? undefined : new Date(chosen).toISOString());
      }}
    />
  );
}
