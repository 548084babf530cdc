import { Checkbox, NumberInput, SimpleGrid, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Source } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { sourceForm as text } from '#console/src/messages/en/data/sources.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { sourcesKey } from '#console/src/queries/data.ts';
import { FormModal } from '#console/src/pages/data/form-modal.tsx';

const optionalFields = ['jurisdiction', 'cadence', 'permission_status', 'license_status'] as const;

/** Creates a source, or edits the given one. */
export const SourceForm = editForm<Source, { onClose: () => void }, undefined>(
  function SourceFields({ editing, onClose }) {
    const source = editing?.record;
    const form = useForm({
      initialValues: {
        name: source?.name ?? '',
        type: source?.type ?? '',
        jurisdiction: source?.jurisdiction ?? '',
        cadence: source?.cadence ?? '',
        permission_status: source?.permission_status ?? '',
        license_status: source?.license_status ?? '',
        reliability_score: source?.reliability_score ?? '',
        is_demo: false,
      },
    });
    const { name, type, reliability_score: reliability, is_demo, ...texts } = form.values;
    const fields = {
      name,
      type,
      jurisdiction: texts.jurisdiction.trim() || null,
      cadence: texts.cadence.trim() || null,
      permission_status: texts.permission_status.trim() || null,
      license_status: texts.license_status.trim() || null,
      reliability_score: typeof reliability === 'number' ? reliability : null,
    };
    const save = useEdit(
      editing,
      fields,
      (known) =>
        source === undefined
          ? api().createSource({ ...fields, is_demo })
          : api().updateSource(source.id, fields, known),
      {
        changes: [sourcesKey],
        done: source === undefined ? text.added : text.saved,
        onDone: onClose,
      },
    );
    return (
      <FormModal
        title={source === undefined ? text.newTitle : text.editTitle}
        submit={source === undefined ? text.add : words.saveChanges}
        action={save}
        onClose={onClose}
      >
        <TextInput
          label={words.name}
          required
          data-autofocus
          maxLength={200}
          {...form.getInputProps('name')}
        />
        <TextInput
          label={words.type}
          description={text.typeAbout}
          required
          maxLength={200}
          {...form.getInputProps('type')}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {optionalFields.map((field) => (
            <TextInput
              key={field}
              {...text[field]}
              maxLength={200}
              {...form.getInputProps(field)}
            />
          ))}
          <NumberInput
            label={text.reliability}
            description={text.reliabilityAbout}
            min={0}
            max={1}
            step={0.05}
            {...form.getInputProps('reliability_score')}
          />
        </SimpleGrid>
        {source === undefined && (
          <Checkbox
            label={text.demo}
            description={text.demoAbout}
            {...form.getInputProps('is_demo', { type: 'checkbox' })}
          />
        )}
      </FormModal>
    );
  },
);
