import { Accordion, Checkbox, Select, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Feed, FeedDetail } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { words } from '#console/src/messages/en/words.ts';
import { feedForm as texts } from '#console/src/messages/en/data/feeds.ts';
import { Edited, type Editing, useEdit } from '#console/src/parts/forms/edited.tsx';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { feedsKey } from '#console/src/queries/data.ts';
import { feedStatuses } from './feed-status.tsx';
import { FormModal } from '#console/src/pages/data/form-modal.tsx';
import { draftOf, parseDraft } from './json-draft.ts';

const objectFields = ['specification', 'geography', 'schema'] as const;
type ObjectField = (typeof objectFields)[number];

interface FormProps {
  editing: Editing<FeedDetail> | undefined;
  onClose: () => void;
  onSaved?: ((feed: FeedDetail) => void) | undefined;
}

function useFeedForm({ editing, onClose, onSaved }: FormProps) {
  const feed = editing?.record;
  const [name, setName] = useState(feed?.name ?? '');
  const [description, setDescription] = useState(feed?.description ?? '');
  const [status, setStatus] = useState<Feed['status']>(feed?.status ?? 'active');
  const [types, setTypes] = useState(feed?.entity_types ?? []);
  const [isDemo, setIsDemo] = useState(feed?.is_demo ?? false);
  const [drafts, setDrafts] = useState<Record<ObjectField, string>>({
    specification: draftOf(feed?.specification ?? {}),
    geography: draftOf(feed?.geography ?? {}),
    schema: draftOf(feed?.schema ?? {}),
  });
  const parsed = {
    specification: parseDraft(drafts.specification),
    geography: parseDraft(drafts.geography),
    schema: parseDraft(drafts.schema),
  };

  const fields = { name, description, status, entity_types: types, ...valuesOf(parsed) };
  const save = useEdit<FeedDetail, FeedDetail>(
    editing,
    fields,
    (known) =>
      feed === undefined
        ? api().createFeed({ ...fields, is_demo: isDemo })
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
  return {
    save,
    sound,
    name,
    setName,
    description,
    setDescription,
    types,
    setTypes,
    status,
    setStatus,
    isDemo,
    setIsDemo,
    parsed,
    drafts,
    setDrafts,
  };
}

type FeedFormState = ReturnType<typeof useFeedForm>;

/** Creates a feed, or edits the given one. */
export function FeedForm({
  feed,
  onClose,
  onSaved,
}: {
  feed?: FeedDetail;
  onClose: () => void;
  onSaved?: (feed: FeedDetail) => void;
}) {
  return (
    <Edited<FeedDetail> record={feed}>
      {(editing) => <FeedDialog editing={editing} onClose={onClose} onSaved={onSaved} />}
    </Edited>
  );
}

function FeedDialog(props: FormProps) {
  const { editing, onClose } = props;
  const feed = editing?.record;
  const state = useFeedForm(props);
  const { save, sound } = state;
  return (
    <FormModal
      title={feed === undefined ? texts.newTitle : texts.editTitle}
      submit={feed === undefined ? texts.create : words.saveChanges}
      action={save}
      ready={sound}
      onSubmit={() => save.mutate(undefined)}
      onClose={onClose}
    >
      <FeedFields {...state} feed={feed} />
      <FeedObjects {...state} />
    </FormModal>
  );
}

function FeedFields({
  name,
  setName,
  description,
  setDescription,
  types,
  setTypes,
  status,
  setStatus,
  isDemo,
  setIsDemo,
  feed,
}: FeedFormState & { feed?: FeedDetail }) {
  return (
    <>
      <TextInput
        label={words.name}
        required
        data-autofocus
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Textarea
        label={words.description}
        autosize
        minRows={2}
        maxLength={5_000}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <TagsInput
        label={texts.recordTypes}
        description={texts.recordTypesAbout}
        placeholder={texts.recordTypesPlaceholder}
        value={types}
        onChange={setTypes}
      />
      <Select
        label={words.status}
        data={feedStatuses}
        allowDeselect={false}
        value={status}
        onChange={(chosen) => chosen !== null && setStatus(chosen as Feed['status'])}
      />
      {feed === undefined && (
        <Checkbox
          label={texts.demo}
          description={texts.demoAbout}
          checked={isDemo}
          onChange={(event) => setIsDemo(event.currentTarget.checked)}
        />
      )}
    </>
  );
}

function FeedObjects({ sound, parsed, drafts, setDrafts }: FeedFormState) {
  return (
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
                  value={drafts[field]}
                  onChange={(text) => setDrafts((before) => ({ ...before, [field]: text }))}
                  error={'problem' in result ? result.problem : undefined}
                />
              );
            })}
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

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
