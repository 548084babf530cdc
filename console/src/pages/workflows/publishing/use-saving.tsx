import { type ReactNode, useState } from 'react';
import {
  ApiError,
  type Graph,
  type JsonObject,
  type Workflow,
  type WorkflowDraft,
} from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { saving as text } from '#console/src/messages/en/workflows/publishing.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { confirm } from '#console/src/parts/forms/confirm.tsx';
import { describeError } from '#console/src/parts/text/describe-error.ts';
import { workflowsKey } from '#console/src/queries/workflows.ts';
import { Conflict } from './conflict.tsx';

/** The content that the editor edits and that a version consists of. */
export interface Content {
  graph: Graph;
  inputSchema: JsonObject | null;
}

export interface Saving {
  unsaved: boolean;
  pending: boolean;
  save: () => void;
  /** Saves unsaved changes. Resolves with whether the workflow then has a draft. Throws what the save throws. */
  saveFirst: () => Promise<boolean>;
  /** The tag of the saved draft; undefined if there is none. */
  etag: string | undefined;
  /** The base version of the draft. */
  baseVersion: number;
  publish: (note: string) => void;
  discard: () => void;
  /** Continues from another state than the one that was read: that of stored changes. */
  continueFrom: (state: { etag: string | undefined; version: number }) => void;
  /** A notice if another member has changed the draft or the version. */
  conflict: ReactNode;
}

/** The state that this editor is based on: the draft with this tag, or no draft. */
interface Base extends Content {
  etag: string | undefined;
  version: number;
}

export const contentOf = ({
  graph,
  input_schema: inputSchema,
}: Pick<Workflow, 'graph' | 'input_schema'>): Content => ({ graph, inputSchema });

const baseOf = (workflow: Workflow, draft: WorkflowDraft | null): Base =>
  draft === null
    ? { etag: undefined, version: workflow.version, ...contentOf(workflow) }
    : { etag: draft.etag, version: draft.base_version, ...contentOf(draft) };

/** Someone else has changed the base state of this editor: 412, or 428 if they started a draft in the meantime. */
const isConflict = (error: unknown): boolean =>
  error instanceof ApiError && [412, 428].includes(error.status);

/** The state of the server as last read. */
interface Known {
  workflow: Workflow;
  draft: WorkflowDraft | null;
}

/** The requests of the editor, each for the state that it is based on. */
function useDraftActions(
  workflow: Workflow,
  [base, setBase]: readonly [Base, (base: Base) => void],
  load: (content: Content) => void,
) {
  const known = { ifMatch: base.etag ?? '' };
  const put = useAction(
    ({ graph, inputSchema, version, etag }: Base) =>
      api().saveDraft(
        workflow.id,
        { graph, input_schema: inputSchema, base_version: version },
        { ifMatch: etag },
      ),
    {
      changes: [workflowsKey],
      done: text.saved,
      onDone: (saved, sent) => setBase({ ...sent, etag: saved.etag, version: saved.base_version }),
    },
  );
  const publish = useAction(
    (note: string) => api().publishDraft(workflow.id, note.trim() === '' ? {} : { note }, known),
    {
      changes: [workflowsKey],
      done: ({ version }) => text.published(version),
      onDone: ({ version }) => setBase({ ...base, etag: undefined, version }),
    },
  );
  const discard = useAction(() => api().discardDraft(workflow.id, known), {
    changes: [workflowsKey],
    done: text.discarded,
    onDone: () => {
      load(contentOf(workflow));
      setBase(baseOf(workflow, null));
    },
  });
  return { put, publish, discard };
}

/** The difference from the state that this editor is based on: the draft, or its base version. */
function differenceOf({ workflow, draft }: Known, base: Base): 'draft' | 'version' | undefined {
  if (draft?.etag !== base.etag) return 'draft';
  if (workflow.version <= base.version) return undefined;
  return draft === null ? 'draft' : 'version';
}

/**
 * Saves, publishes and discards the draft in the state that this editor is based on. `load` starts over with other
 * content.
 */
export function useSaving(
  known: Known,
  content: Content,
  load: (content: Content) => void,
): Saving {
  const { workflow, draft } = known;
  const [base, setBase] = useState(() => baseOf(workflow, draft));
  const unsaved = content.graph !== base.graph || content.inputSchema !== base.inputSchema;
  const { put, publish, discard } = useDraftActions(workflow, [base, setBase], load);
  const actions = [put, publish, discard];
  const pending = actions.some((action) => action.isPending);
  const refused = actions.find(({ error }) => isConflict(error))?.error;
  const difference = pending ? undefined : differenceOf(known, base);
  const settle = (): void => {
    for (const action of actions) action.reset();
  };
  const take = (): void => {
    const next = baseOf(workflow, draft);
    load({ graph: next.graph, inputSchema: next.inputSchema });
    setBase(next);
    settle();
  };
  return {
    unsaved,
    pending,
    etag: base.etag,
    baseVersion: base.version,
    save: () => {
      if (unsaved && !pending) put.mutate({ ...base, ...content });
    },
    saveFirst: async () => {
      if (!unsaved) return base.etag !== undefined;
      await put.mutateAsync({ ...base, ...content });
      return true;
    },
    publish: (note) => publish.mutate(note),
    discard: () => confirmDiscard(workflow, () => discard.mutate(undefined)),
    continueFrom: (state) => setBase({ ...base, ...state }),
    conflict:
      difference === undefined ? null : (
        <Conflict
          {...known}
          mine={{ graph: content.graph, input_schema: content.inputSchema }}
          behind={difference === 'version'}
          reason={refused === undefined ? undefined : describeError(refused)}
          onTake={() => (unsaved ? confirmLoad(take) : take())}
          onKeep={() => {
            settle();
            put.mutate({ ...content, etag: draft?.etag, version: workflow.version });
          }}
        />
      ),
  };
}

const confirmDiscard = ({ version }: Workflow, onConfirm: () => void): void =>
  confirm({
    title: text.discardTitle,
    consequence: text.discardConsequence(version),
    confirm: text.discardConfirm,
    onConfirm,
  });

const confirmLoad = (onConfirm: () => void): void => confirm({ ...text.confirmLoad, onConfirm });
