import { Checkbox, NumberInput, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Source } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { sourcesKey } from '../../../queries/data.ts';
import { FormModal } from '../form-modal.tsx';

const optional = {
  jurisdiction: ['Jurisdiction', 'The area that the source covers, such as Austin, TX.'],
  cadence: ['Check frequency', 'How often the source is checked, such as daily.'],
  permission_status: ['Permission', 'Whether you are allowed to read the source.'],
  license_status: ['License', 'Whether you are allowed to share its data.'],
} as const;
type Optional = keyof typeof optional;
const optionalFields = Object.keys(optional) as Optional[];

function useSourceForm({ source, onClose }: { source?: Source; onClose: () => void }) {
  const [name, setName] = useState(source?.name ?? '');
  const [type, setType] = useState(source?.type ?? '');
  const [texts, setTexts] = useState<Record<Optional, string>>({
    jurisdiction: source?.jurisdiction ?? '',
    cadence: source?.cadence ?? '',
    permission_status: source?.permission_status ?? '',
    license_status: source?.license_status ?? '',
  });
  const [reliability, setReliability] = useState<string | number>(source?.reliability_score ?? '');
  const [isDemo, setIsDemo] = useState(false);
  const save = useAction(
    () => {
      const orNull = (field: Optional): string | null => texts[field].trim() || null;
      const body = {
        name,
        type,
        jurisdiction: orNull('jurisdiction'),
        cadence: orNull('cadence'),
        permission_status: orNull('permission_status'),
        license_status: orNull('license_status'),
        reliability_score: typeof reliability === 'number' ? reliability : null,
      };
      return source === undefined
        ? api().createSource({ ...body, is_demo: isDemo })
        : api().updateSource(source.id, body);
    },
    {
      changes: [sourcesKey],
      done: source === undefined ? 'Source added' : 'Source saved',
      quiet: true,
      onDone: onClose,
    },
  );
  return {
    save,
    name,
    setName,
    type,
    setType,
    texts,
    setTexts,
    reliability,
    setReliability,
    isDemo,
    setIsDemo,
  };
}

type SourceFormState = ReturnType<typeof useSourceForm>;

/** Creates a source, or edits the given one. */
export function SourceForm({ source, onClose }: { source?: Source; onClose: () => void }) {
  const state = useSourceForm({ source, onClose });
  const { save, name, setName, type, setType, isDemo, setIsDemo } = state;
  return (
    <FormModal
      title={source === undefined ? 'New source' : 'Edit source'}
      submit={source === undefined ? 'Add source' : 'Save changes'}
      action={save}
      onSubmit={() => save.mutate(undefined)}
      onClose={onClose}
    >
      <TextInput
        label="Name"
        required
        data-autofocus
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label="Type"
        description="The kind of source, such as permit_portal."
        required
        maxLength={200}
        value={type}
        onChange={(event) => setType(event.currentTarget.value)}
      />
      <OptionalFields {...state} />
      {source === undefined && (
        <Checkbox
          label="Demo source"
          description="Only test keys can see it. You cannot change this later."
          checked={isDemo}
          onChange={(event) => setIsDemo(event.currentTarget.checked)}
        />
      )}
    </FormModal>
  );
}

function OptionalFields({ texts, setTexts, reliability, setReliability }: SourceFormState) {
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {optionalFields.map((field) => (
        <TextInput
          key={field}
          label={optional[field][0]}
          description={optional[field][1]}
          maxLength={200}
          value={texts[field]}
          onChange={({ currentTarget: { value } }) =>
            setTexts((before) => ({ ...before, [field]: value }))
          }
        />
      ))}
      <NumberInput
        label="Reliability"
        description="From 0 to 1. Leave empty if unknown."
        min={0}
        max={1}
        step={0.05}
        value={reliability}
        onChange={setReliability}
      />
    </SimpleGrid>
  );
}
