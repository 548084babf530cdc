import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { feedSelect as text } from '#console/src/messages/en/data/feeds.ts';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { feedsQuery } from '#console/src/queries/data.ts';

/** Filters a list by feed. */
export function FeedSelect({
  value,
  onChange,
}: {
  value: string | undefined;
  onChange: (feedId: string | undefined) => void;
}) {
  const { data = [] } = useQuery(feedsQuery);
  return (
    <Select
      label={text.label}
      placeholder={text.all}
      clearable
      searchable={data.length > 8}
      clearButtonProps={{ 'aria-label': text.all }}
      data={data.map(({ id, name }) => ({ value: id, label: name }))}
      renderOption={({ option }) => <UserText>{option.label}</UserText>}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
    />
  );
}
