import { Button, Group, type OptionsFilter, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
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
      <Listed
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
      <Listed
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

/** A list of the values with their texts, which is searched by both. The URL can have others. */
function Listed({
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
  const unknown = value === undefined || Object.hasOwn(texts, value) ? [] : [value];
  return (
    <Select
      label={label}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': auditFilters.clearOf(label) }}
      data={[
        ...Object.entries(texts).map(([name, text]) => ({ value: name, label: text })),
        ...unknown.map((name) => ({ value: name, label: name })),
      ]}
      filter={matching}
      value={value ?? null}
      onChange={(name) => onChange(name ?? undefined)}
      nothingFoundMessage={auditFilters.noneFound}
    />
  );
}

const matching: OptionsFilter = ({ options, search }) => {
  const wanted = search.trim().toLowerCase();
  return options.filter(
    (option) =>
      'value' in option &&
      [option.label, option.value].some((text) => text.toLowerCase().includes(wanted)),
  );
};

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
