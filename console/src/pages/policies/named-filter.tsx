import { Select } from '@mantine/core';

/** Selects one of several named items, or all. A deleted item is shown by its ID. */
export function NamedFilter({
  label,
  all,
  named,
  value,
  onChange,
}: {
  label: string;
  /** The text shown while none is selected. */
  all: string;
  named: readonly { id: string; name: string }[];
  value: string | undefined;
  onChange: (id: string | undefined) => void;
}) {
  const data = named.map(({ id, name }) => ({ value: id, label: name }));
  if (value !== undefined && !data.some((each) => each.value === value)) {
    data.push({ value, label: value });
  }
  return (
    <Select
      label={label}
      placeholder={all}
      value={value ?? null}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      data={data}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': all }}
    />
  );
}
