import { Select, SimpleGrid, TextInput } from '@mantine/core';
import { words } from '#console/src/messages/en/words.ts';
import { recordFilters as text } from '#console/src/messages/en/data/records.ts';
import { FeedSelect } from '#console/src/pages/data/feeds/feed-select.tsx';
import { FilterText } from '#console/src/parts/forms/filter-text.tsx';
import { percentText } from '#console/src/parts/text/numbers.ts';
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
        label={words.type}
        placeholder={text.typePlaceholder}
        maxLength={100}
        value={search.entity_type}
        onChange={(entity_type) => onChange({ entity_type })}
      />
      <FilterText
        label={text.place}
        placeholder={text.placePlaceholder}
        maxLength={200}
        value={search.geography}
        onChange={(geography) => onChange({ geography })}
      />
      <Select
        label={words.confidence}
        placeholder={text.any}
        clearable
        clearButtonProps={{ 'aria-label': text.anyConfidence }}
        data={offered.map((least) => ({
          value: String(least),
          label: text.atLeast(percentText(Math.round(least * 100))),
        }))}
        value={chosen === undefined ? null : String(chosen)}
        onChange={(least) => onChange({ confidence_min: least === null ? undefined : +least })}
      />
      <TextInput
        type="date"
        label={text.updatedSince}
        value={search.updated_since ?? ''}
        onChange={({ currentTarget: { value } }) => onChange({ updated_since: value || undefined })}
      />
    </SimpleGrid>
  );
}
