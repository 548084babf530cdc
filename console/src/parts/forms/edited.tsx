import { type ReactNode, useEffect, useState } from 'react';
import { isRecord } from '#console/src/parts/data/record.ts';
import { type ChangedField, changedFields } from '#console/src/parts/data/changed-fields.ts';
import { type Tagged, tagged } from '#console/src/queries/tagged.ts';
import { type ActionOptions, isStale, useAction } from './action.ts';

/** A record that a form edits. */
export interface Editing<Fields> {
  /** The initial values of the form's fields: the record, with what the user had entered before a reload. */
  record: Fields & Tagged;
  /** The state of the record that the form is based on. Requests only apply to this state. */
  base: Fields & Tagged;
  /** The state of the record as the page has read it last. */
  latest: Fields & Tagged;
  /** Starts over with another state of the record, and with these fields as the user entered them. */
  reload: (base: Fields & Tagged, entered: Partial<Fields>) => void;
}

interface State<Fields> {
  base: (Fields & Tagged) | undefined;
  entered: Partial<Fields>;
  round: number;
}

/**
 * A form for a record or, with `None = undefined`, also for a new one. It applies to the state in which it was opened,
 * even when the page reads the record again. `useEdit` sends its request.
 */
export function editForm<Fields, Props, None extends undefined = never>(
  EditFields: (props: Props & { editing: Editing<Fields> | None }) => ReactNode,
) {
  return function EditForm(props: Props & { record: (Fields & Tagged) | None }) {
    const latest: (Fields & Tagged) | undefined = props.record;
    const [{ base, entered, round }, setState] = useState<State<Fields>>({
      base: latest,
      entered: {},
      round: 0,
    });
    const editing: Editing<Fields> | undefined = latest &&
      base && {
        base,
        record: { ...base, ...entered },
        latest,
        reload: (next, typed) => setState({ base: next, entered: typed, round: round + 1 }),
      };
    return <EditFields key={round} {...props} editing={editing as Editing<Fields> | None} />;
  };
}

/** What someone else did to the record while the form was open. */
export interface ChangedMeanwhile {
  /** What they changed; undefined if the record was deleted. */
  fields: ChangedField[] | undefined;
  /** Starts over with their state: with what the user has entered, or without it. */
  onReload: (keep: boolean) => void;
}

/**
 * Like `useAction`, for an `editForm`: the request only applies to the state that the form is based on. `fields`
 * are the fields that the form would save, by the names of the record's fields. `latest` is the page's latest version
 * of the record, if it reads it again: the form adopts changes by others in fields that the user has not edited.
 * `changed` is for `Form`, which shows it instead of the error.
 */
export function useEdit<Fields extends object, Answer>(
  editing: Editing<Fields> | undefined,
  fields: Partial<Fields>,
  send: (known: { ifMatch: string | undefined }) => Promise<Answer>,
  options: Omit<ActionOptions<undefined, Answer>, 'quiet'>,
  latest?: Fields & Tagged,
) {
  const news = useNews(editing, latest);
  const entered = editing === undefined ? [] : differing(editing.base, fields, fields);
  // Someone else changed fields that the form does not have.
  const apart = editing && news && differing(editing.base, news, fields).length === 0;
  const base = apart === true ? news : editing?.base;
  const action = useAction<undefined, Answer>(() => send({ ifMatch: base?.etag }), {
    ...options,
    quiet: true,
  });
  const adopted = entered.length === 0 && !action.isPending ? news : undefined;
  useEffect(() => {
    if (adopted !== undefined) editing?.reload(adopted, {});
  });
  const current = currentOf<Fields>(action.error) ?? (apart === true ? undefined : news);
  return {
    ...action,
    changed: editing && changedMeanwhile(editing, current, pick(fields, entered)),
  };
}

/** The record as the page has read it since the form was shown, if its state differs. */
function useNews<Fields>(
  editing: Editing<Fields> | undefined,
  latest: (Fields & Tagged) | undefined,
): (Fields & Tagged) | undefined {
  // After a save, the page briefly has the previous state.
  const [before] = useState(latest?.etag);
  const known = [before, editing?.base.etag];
  return latest === undefined || known.includes(latest.etag) ? undefined : latest;
}

/** The present record of a 412; `gone` if it was deleted. Undefined for other errors. */
function currentOf<Fields extends object>(
  error: Error | null,
): (Fields & Tagged) | 'gone' | undefined {
  if (!isStale(error)) return undefined;
  const { current } = error;
  return typeof current === 'object' && current !== null ? tagged(current as Fields) : 'gone';
}

function changedMeanwhile<Fields extends object>(
  { base, reload }: Editing<Fields>,
  current: (Fields & Tagged) | 'gone' | undefined,
  entered: Partial<Fields>,
): ChangedMeanwhile | undefined {
  if (current === undefined) return undefined;
  if (current === 'gone') return { fields: undefined, onReload: () => undefined };
  return {
    fields: changedFields(fieldsOf(base), fieldsOf(current)).filter(isEdited),
    onReload: (keep) => reload(current, keep ? entered : {}),
  };
}

/** Fields that change with every edit, or without one. */
const serverManaged: ReadonlySet<string> = new Set([
  ...['etag', 'updated_at', 'has_draft', 'stats', 'member_count', 'api_key_count', 'last_used_at'],
  ...[
    'next_run_at',
    'last_run_at',
    'last_run_id',
    'last_skip',
    'sync_error',
    'freshness',
    'health',
  ],
  ...['consecutive_failures', 'last_delivery_at'],
]);

/** The status of a budget contains its counters. */
const isEdited = ({ name, after }: ChangedField): boolean =>
  !serverManaged.has(name) && !(name === 'status' && isRecord(after));

const fieldsOf = (record: object): Record<string, unknown> => ({ ...record });

/** The names of these fields in which two objects differ. */
const differing = (one: object, other: object, fields: object): string[] => {
  const names = Object.keys(fields);
  return changedFields(fieldsOf(one), fieldsOf(other))
    .map(({ name }) => name)
    .filter((name) => names.includes(name));
};

const pick = <Fields extends object>(from: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name))) as Fields;
