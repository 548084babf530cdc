import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { FeedSelect } from '../feeds/feed-select.tsx';
import { FilterText } from '../../../parts/forms/filter-text.tsx';
import type { RecordSearch } from './search.ts';

const confidences = [0.5, 0.7, 0.8, 0.9, 0.95];

export function RecordFilters({
  search,
  onChange,
}: {
  search: RecordSearch;
  onChange: (by: Partial<RecordSearch>) => void;
}) {
  const chosen = search.confidence_min;
  const offered =
    chosen === undefined || confidences.includes(chosen)
      ? confidences
      : [...confidences, chosen].sort((a, b) => a - b);
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 5 }} spacing="sm" role="search">
      <FeedSelect value={search.feed_id} onChange={(feed_id) => onChange({ feed_id })} />
      <FilterText
        label="Type"
        placeholder="project"
        maxLength={100}
        value={search.entity_type}
        onChange={(entity_type) => onChange({ entity_type })}
      />
      <FilterText
        label="City, region or country"
        placeholder="Austin"
        maxLength={200}
        value={search.geography}
        onChange={(geography) => onChange({ geography })}
      />
      <Select
        label="Confidence"
        placeholder="Any"
        clearable
        clearButtonProps={{ 'aria-label': 'Any confidence' }}
        data={offered.map((least) => ({
          value: String(least),
          label: `At least ${Math.round(least * 100)}%`,
        }))}
        value={chosen === undefined ? null : String(chosen)}
        onChange={(least) => onChange({ confidence_min: least === null ? undefined : +least })}
      />
      <TextInput
        type="date"
        label="Updated since"
        value={search.updated_since ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ updated_since: value || undefined })}
      />
    </SimpleGrid>
  );
}
