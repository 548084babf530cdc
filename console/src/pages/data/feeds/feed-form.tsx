import { Accordion, Checkbox, Select, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { FeedDetail } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { feedForm as texts } from '#console/src/messages/en/data/feeds.ts';
import { editForm, useEdit } from '#console/src/parts/forms/edited.tsx';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { feedsKey } from '#console/src/queries/data.ts';
import { feedStatuses } from './feed-status.tsx';
import { FormModal } from '#console/src/pages/data/form-modal.tsx';
import { draftOf, parseDraft } from './json-draft.ts';

const objectFields = ['specification', 'geography', 'schema'] as const;
type ObjectField = (typeof objectFields)[number];

/** Creates a feed, or edits the given one. */
export const FeedForm = editForm<
  FeedDetail,
  { onClose: () => void; onSaved?: (feed: FeedDetail) => void },
  undefined
>(function FeedFields({ editing, onClose, onSaved }) {
  const feed = editing?.record;
  const form = useForm({
    initialValues: {
      name: feed?.name ?? '',
      description: feed?.description ?? '',
      status: feed?.status ?? 'active',
      entity_types: feed?.entity_types ?? [],
      is_demo: feed?.is_demo ?? false,
      specification: draftOf(feed?.specification ?? {}),
      geography: draftOf(feed?.geography ?? {}),
      schema: draftOf(feed?.schema ?? {}),
    },
  });
  const { is_demo, ...values } = form.values;
  const parsed = {
    specification: parseDraft(values.specification),
    geography: parseDraft(values.geography),
    schema: parseDraft(values.schema),
  };
  const fields = { ...values, ...valuesOf(parsed) };
  const save = useEdit<FeedDetail, FeedDetail>(
    editing,
    fields,
    (known) =>
      feed === undefined
        ? api().createFeed({ ...fields, is_demo })
        : api().updateFeed(feed.id, fields, known),
    {
      changes: [feedsKey],
      done: feed === undefined ? texts.created : texts.saved,
      onDone: (saved) => {
        onClose();
        onSaved?.(saved);
      },
    },
  );
  const sound = objectFields.every((field) => 'value' in parsed[field]);
  return (
    <FormModal
      title={feed === undefined ? texts.newTitle : texts.editTitle}
      submit={feed === undefined ? texts.create : words.saveChanges}
      action={save}
      ready={sound}
      onClose={onClose}
    >
      <TextInput
        label={words.name}
        required
        data-autofocus
        maxLength={200}
        {...form.getInputProps('name')}
      />
      <Textarea
        label={words.description}
        autosize
        minRows={2}
        maxLength={5_000}
        {...form.getInputProps('description')}
      />
      <TagsInput
        label={texts.recordTypes}
        description={texts.recordTypesAbout}
        placeholder={texts.recordTypesPlaceholder}
        {...form.getInputProps('entity_types')}
      />
      <Select
        label={words.status}
        data={feedStatuses}
        allowDeselect={false}
        {...form.getInputProps('status')}
      />
      {feed === undefined && (
        <Checkbox
          label={texts.demo}
          description={texts.demoAbout}
          {...form.getInputProps('is_demo', { type: 'checkbox' })}
        />
      )}
      <Accordion variant="contained" defaultValue={sound ? null : 'more'}>
        <Accordion.Item value="more">
          <Accordion.Control>{texts.objects}</Accordion.Control>
          <Accordion.Panel>
            <Stack gap="sm">
              {objectFields.map((field) => {
                const result = parsed[field];
                return (
                  <CodeEditor
                    key={field}
                    {...texts[field]}
                    language="json"
                    minHeight={80}
                    maxHeight={240}
                    value={values[field]}
                    onChange={(draft) => form.setFieldValue(field, draft)}
                    error={'problem' in result ? result.problem : undefined}
                  />
                );
              })}
            </Stack>
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </FormModal>
  );
});

/** The parsed objects, `{}` for invalid ones. The form cannot be submitted while one is invalid. */
function valuesOf(parsed: Record<ObjectField, ReturnType<typeof parseDraft>>) {
  const value = (field: ObjectField) => {
    const result = parsed[field];
    return 'value' in result ? result.value : {};
  };
  return {
    specification: value('specification'),
    geography: value('geography'),
    schema: value('schema'),
  };
}
