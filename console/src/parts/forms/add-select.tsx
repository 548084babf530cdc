import { Select, type SelectProps } from '@mantine/core';
import { useState } from 'react';

/** A list that adds what is selected, and is empty again afterward. */
export function AddSelect({
  onAdd,
  ...select
}: Pick<SelectProps, 'label' | 'placeholder' | 'data' | 'nothingFoundMessage' | 'renderOption'> & {
  onAdd: (value: string) => void;
}) {
  const [search, setSearch] = useState('');
  return (
    <Select
      {...select}
      searchable
      value={null}
      searchValue={search}
      onSearchChange={setSearch}
      onChange={(value) => {
        if (value === null) return;
        setSearch('');
        onAdd(value);
      }}
    />
  );
}
