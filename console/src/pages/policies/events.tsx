import { Button, Group, NativeSelect } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { words } from '#console/src/messages/en/words.ts';
import {
  decisionTexts,
  events as text,
  eventTexts,
} from '#console/src/messages/en/governance/decisions.ts';
import { Message } from '#console/src/messages/message.tsx';
import { Empty } from '#console/src/parts/empty.tsx';
import { FilterText } from '#console/src/parts/forms/filter-text.tsx';
import { LoadedList } from '#console/src/parts/data/loaded-list.tsx';
import { LoadingCards } from '#console/src/parts/loading.tsx';
import { Page } from '#console/src/parts/page.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { type DecisionFilter, decisionsQuery } from '#console/src/queries/policies.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { pollMs } from '#console/src/queries/stream-state.ts';
import { FoldedFilters } from '#console/src/parts/data/folded-filters.tsx';
import { EventCard } from './event-card.tsx';
import { isDecision, isEventType } from './event-texts.ts';
import { NamedFilter } from './named-filter.tsx';

const route = getRouteApi('/inside/policy-log');
const DECISIONS_EVERY_MS = 10_000;

/** The decisions of policies, budgets and overrides, across all runs. */
export function EventsPage() {
  const filter = useFilter();
  const events = useInfiniteQuery({
    ...decisionsQuery(filter),
    refetchInterval: () => pollMs(DECISIONS_EVERY_MS),
  });
  const filtered = Object.values(filter).some(Boolean);
  return (
    <Page title={text.title} about={text.about}>
      <FoldedFilters inUse={Object.values(filter).filter(Boolean).length}>
        <Filters />
      </FoldedFilters>
      <LoadedList
        query={events}
        loading={<LoadingCards cards={5} height={120} />}
        empty={<Nothing filtered={filtered} />}
      >
        {(rows) => rows.map((event) => <EventCard key={event.id} event={event} />)}
      </LoadedList>
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
    <Group gap="sm" align="flex-end" role="search" aria-label={text.search}>
      <NativeSelect
        label={words.kind}
        value={search.event_type ?? ''}
        onChange={(event) => set({ event_type: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: text.allKinds },
          ...Object.entries(eventTexts).map(([value, label]) => ({ value, label })),
        ]}
      />
      <NativeSelect
        label={words.decision}
        value={search.decision ?? ''}
        onChange={(event) => set({ decision: event.currentTarget.value || undefined })}
        data={[
          { value: '', label: text.allDecisions },
          ...Object.entries(decisionTexts).map(([value, label]) => ({ value, label })),
        ]}
      />
      <NamedFilter
        label={words.workflow}
        all={text.allWorkflows}
        named={workflows}
        value={search.workflow_id}
        onChange={(workflow_id) => set({ workflow_id })}
      />
      <FilterText
        label={words.run}
        placeholder={text.runPlaceholder}
        value={search.run_id}
        onChange={(run_id) => set({ run_id })}
      />
      {Object.values(search).some(Boolean) && (
        <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
          {words.clearFilters}
        </Button>
      )}
    </Group>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) {
    return <Empty {...text.noMatch} />;
  }
  return (
    <Empty
      title={text.empty.title}
      about={
        <Message
          text={text.empty.about}
          values={{
            policies: (
              <TextLink to="/policies" underline="always">
                {text.empty.policies}
              </TextLink>
            ),
            budgets: (
              <TextLink to="/budgets" underline="always">
                {text.empty.budgets}
              </TextLink>
            ),
          }}
        />
      }
    />
  );
}
