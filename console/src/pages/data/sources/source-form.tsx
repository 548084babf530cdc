import { Checkbox, NumberInput, SimpleGrid, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Source } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { sourceForm as text } from '#console/src/messages/en/data/sources.ts';
import { Edited, type Editing, useEdit } from '#console/src/parts/forms/edited.tsx';
import { sourcesKey } from '#console/src/queries/data.ts';
import { FormModal } from '#console/src/pages/data/form-modal.tsx';

const optionalFields = ['jurisdiction', 'cadence', 'permission_status', 'license_status'] as const;
type Optional = (typeof optionalFields)[number];

function useSourceForm({ editing, onClose }: FormProps) {
  const source = editing?.record;
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
  const orNull = (field: Optional): string | null => texts[field].trim() || null;
  const fields = {
    name,
    type,
    jurisdiction: orNull('jurisdiction'),
    cadence: orNull('cadence'),
    permission_status: orNull('permission_status'),
    license_status: orNull('license_status'),
    reliability_score: typeof reliability === 'number' ? reliability : null,
  };
  const save = useEdit(
    editing,
    fields,
    (known) =>
      source === undefined
        ? api().createSource({ ...fields, is_demo: isDemo })
        : api().updateSource(source.id, fields, known),
    {
      changes: [sourcesKey],
      done: source === undefined ? text.added : text.saved,
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
  return (
    <Edited<Source> record={source}>
      {(editing) => <SourceFields editing={editing} onClose={onClose} />}
    </Edited>
  );
}

interface FormProps {
  editing: Editing<Source> | undefined;
  onClose: () => void;
}

function SourceFields({ editing, onClose }: FormProps) {
  const source = editing?.record;
  const state = useSourceForm({ editing, onClose });
  const { save, name, setName, type, setType, isDemo, setIsDemo } = state;
  return (
    <FormModal
      title={source === undefined ? text.newTitle : text.editTitle}
      submit={source === undefined ? text.add : words.saveChanges}
      action={save}
      onSubmit={() => save.mutate(undefined)}
      onClose={onClose}
    >
      <TextInput
        label={words.name}
        required
        data-autofocus
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <TextInput
        label={text.type}
        description={text.typeAbout}
        required
        maxLength={200}
        value={type}
        onChange={(event) => setType(event.currentTarget.value)}
      />
      <OptionalFields {...state} />
      {source === undefined && (
        <Checkbox
          label={text.demo}
          description={text.demoAbout}
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
          {...text[field]}
          maxLength={200}
          value={texts[field]}
          onChange={({ currentTarget: { value } }) =>
            setTexts((before) => ({ ...before, [field]: value }))
          }
        />
      ))}
      <NumberInput
        label={text.reliability}
        description={text.reliabilityAbout}
        min={0}
        max={1}
        step={0.05}
        value={reliability}
        onChange={setReliability}
      />
    </SimpleGrid>
  );
}
