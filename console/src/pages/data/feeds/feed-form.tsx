import { Accordion, Checkbox, Select, Stack, TagsInput, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Feed, FeedDetail } from '../../../../../client/index.ts';
import { api } from '../../../api.ts';
import { useAction } from '../../../parts/forms/action.ts';
import { CodeEditor } from '../../../parts/code/code-editor.tsx';
import { feedsKey } from '../../../queries/data.ts';
import { feedStatuses } from './feed-status.tsx';
import { FormModal } from '../form-modal.tsx';
import { draftOf, parseDraft } from './json-draft.ts';

const objects = {
  specification: {
    label: 'Specification',
    description: 'What the feed monitors, how and how often.',
  },
  geography: {
    label: 'Geography',
    description: 'The area that its records cover, such as {"country": "US", "region": "TX"}.',
  },
  schema: {
    label: 'Schema',
    description: 'The attributes of its records, as JSON Schema or a description.',
  },
} as const;
type ObjectField = keyof typeof objects;
const objectFields = Object.keys(objects) as ObjectField[];

function useFeedForm({
  feed,
  onClose,
  onSaved,
}: {
  feed?: FeedDetail;
  onClose: () => void;
  onSaved?: (feed: FeedDetail) => void;
}) {
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

  const save = useAction(
    () => {
      const body = { name, description, status, entity_types: types, ...valuesOf(parsed) };
      return feed === undefined
        ? api().createFeed({ ...body, is_demo: isDemo })
        : api().updateFeed(feed.id, body);
    },
    {
      changes: [feedsKey],
      done: feed === undefined ? 'Feed created' : 'Feed saved',
      quiet: true,
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
  const state = useFeedForm({ feed, onClose, onSaved });
  const { save, sound } = state;
  return (
    <FormModal
      title={feed === undefined ? 'New feed' : 'Edit feed'}
      submit={feed === undefined ? 'Create feed' : 'Save changes'}
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
        label="Name"
        required
        data-autofocus
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Textarea
        label="Description"
        autosize
        minRows={2}
        maxLength={5_000}
        value={description}
        onChange={(event) => setDescription(event.currentTarget.value)}
      />
      <TagsInput
        label="Record types"
        description="The record types that the feed accepts. Leave empty to accept any. Press Enter after each."
        placeholder="project"
        value={types}
        onChange={setTypes}
      />
      <Select
        label="Status"
        data={feedStatuses}
        allowDeselect={false}
        value={status}
        onChange={(chosen) => chosen !== null && setStatus(chosen as Feed['status'])}
      />
      {feed === undefined && (
        <Checkbox
          label="Demo feed"
          description="Only test keys can read its records. You cannot change this later."
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
        <Accordion.Control>Specification (JSON)</Accordion.Control>
        <Accordion.Panel>
          <Stack gap="sm">
            {objectFields.map((field) => {
              const result = parsed[field];
              return (
                <CodeEditor
                  key={field}
                  {...objects[field]}
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
