import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Empty } from '../../parts/empty.tsx';
import { FilterText } from '../../parts/forms/filter-text.tsx';
import { LoadMore } from '../../parts/data/load-more.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Page } from '../../parts/page.tsx';
import { TextLink } from '../../parts/links.tsx';
import { type DecisionFilter, decisionsQuery } from '../../queries/policies.ts';
import { workflowsQuery } from '../../queries/workflows.ts';
import { EventCard } from './event-card.tsx';
import { decisionColours, eventTexts, isDecision, isEventType } from './event-texts.ts';
import { NamedFilter } from './named-filter.tsx';
import { sentenceCase } from '../../parts/text/sentence-case.ts';

const route = getRouteApi('/inside/governance');
const DECISIONS_EVERY_MS = 10_000;

/** The decisions of policies, budgets and overrides, across all runs. */
export function EventsPage() {
  const filter = useFilter();
  const events = useInfiniteQuery({
    ...decisionsQuery(filter),
    refetchInterval: DECISIONS_EVERY_MS,
  });
  const filtered = Object.values(filter).some(Boolean);
  return (
    <Page
      title="Decisions"
      about="Actions that policies and budgets blocked, redacted or allowed by override. Evidence contains counts and names, never the data found."
    >
      <Filters />
      <Loaded query={events}>
        {(rows) =>
          rows.length === 0 ? (
            <Nothing filtered={filtered} />
          ) : (
            <Stack gap="sm">
              {rows.map((event) => (
                <EventCard key={event.id} event={event} />
              ))}
              <LoadMore query={events} />
            </Stack>
          )
        }
      </Loaded>
    </Page>
  );
}

/** The filter in the URL, without unknown types and decisions. */
function useFilter(): DecisionFilter {
  const { event_type, decision, run_id, workflow_id } = route.useSearch();
  return {
    event_type: isEventType(event_type) ? event_type : undefined,
    decision: isDecision(decision) ? decision : undefined,
    run_id,
    workflow_id,
  };
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: workflows = [] } = useQuery(workflowsQuery);
  const set = (part: Partial<typeof search>): void =>
    void navigate({ search: { ...search, ...part }, replace: true });
  return (
    <Group gap="sm" align="flex-end" role="search" aria-label="Decisions">
      <NativeSelect
        label="Kind"
        value={search.event_type ?? ''}
        onChange={(event) => set({ event_type: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: 'All kinds' },
          ...Object.entries(eventTexts).map(([value, label]) => ({ value, label })),
        ]}
      />
      <NativeSelect
        label="Decision"
        value={search.decision ?? ''}
        onChange={(event) => set({ decision: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: 'All decisions' },
          ...Object.keys(decisionColours).map((value) => ({ value, label: sentenceCase(value) })),
        ]}
      />
      <NamedFilter
        label="Workflow"
        all="All workflows"
        named={workflows}
        value={search.workflow_id}
        onChange={(workflow_id) => set({ workflow_id })}
      />
      <FilterText
        label="Run"
        placeholder="Run ID"
        value={search.run_id}
        onChange={(run_id) => set({ run_id })}
      />
      {Object.values(search).some(Boolean) && (
        <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) return <Empty title="No matching decisions" />;
  return (
    <Empty title="No decisions yet">
      <Text size="sm" c="dimmed">
        Decisions appear when runs are subject to{' '}
        <TextLink to="/policies" underline="always">
          policies
        </TextLink>{' '}
        and{' '}
        <TextLink to="/budgets" underline="always">
          budgets
        </TextLink>
        .
      </Text>
    </Empty>
  );
}
