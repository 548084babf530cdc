import { Accordion, Stack, TextInput } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Graph } from '#client/index.ts';
import { drawingOf } from '#console/src/graph/drawn.ts';
import { nodeForm as text } from '#console/src/messages/en/workflows/editor.ts';
import { type DraftAction, nodeOf } from './draft.ts';
import { EdgeFields } from './edge-fields.tsx';
import { FieldInput } from './field-input.tsx';
import { type FieldMark, marksText } from './field-marks.ts';
import type { Mistake } from '#console/src/pages/workflows/mistakes/mistakes.ts';
import { fieldAt, type FieldGroup, mainFields, moreFields, type NodeField } from './node-fields.ts';
import { type JsonRecord, valueAt } from '#console/src/parts/data/record.ts';
import { sentenceCase } from '#console/src/parts/text/sentence-case.ts';

const NO_MARKS: readonly FieldMark[] = [];

interface NodeFormProps {
  graph: Graph;
  id: string;
  mistakes: readonly Mistake[];
  tools: readonly string[];
  /** The field of the mistake that was opened. */
  focused: string | undefined;
  change: (action: DraftAction) => void;
  onRenamed: (to: string) => void;
}

/** All settings of one node, and its edges. */
export function NodeForm({
  graph,
  id,
  mistakes,
  tools,
  focused,
  change,
  onRenamed,
}: NodeFormProps) {
  const node = nodeOf(graph, id);
  const drawn = drawingOf(graph).nodes.find((each) => each.id === id);
  const marks = marksOf(mistakes, id, drawn?.kind);
  const [open, setOpen] = useState<string[]>([]);
  if (node === undefined || drawn === undefined) return null;
  const input = (field: NodeField): ReactNode => (
    <div key={field.name} data-field={field.name}>
      <FieldInput
        field={field}
        value={valueAt(node, field.name)}
        onChange={(value) => change({ type: 'set', id, field: field.name, value })}
        marks={marks.get(field.name) ?? NO_MARKS}
        tools={tools}
        node={node}
      />
    </div>
  );
  const more = moreFields[drawn.kind];
  const holding = more
    .filter(({ fields }) => fields.some(({ name }) => name === focused))
    .map(groupKey);
  return (
    <Stack gap="sm">
      <IdInput
        graph={graph}
        id={id}
        error={marksText(marks.get('id'))}
        onRename={(to) => {
          change({ type: 'rename', id, to });
          onRenamed(to);
        }}
      />
      <TextInput
        label={text.label}
        description={text.labelAbout}
        data-field="label"
        value={labelOf(node)}
        error={marksText(marks.get('label'))}
        onChange={(event) => {
          const value = event.currentTarget.value;
          change({ type: 'set', id, field: 'label', value: value === '' ? undefined : value });
        }}
      />
      {mainFields[drawn.kind].map(input)}
      <Accordion
        multiple
        variant="contained"
        value={[...new Set([...open, ...holding])]}
        onChange={setOpen}
        keepMounted={false}
        order={3}
      >
        {more.map((group) => (
          <Accordion.Item key={group.label} value={groupKey(group)}>
            <Accordion.Control>{group.label}</Accordion.Control>
            <Accordion.Panel>
              <Stack gap="sm">{group.fields.map(input)}</Stack>
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
      <EdgeFields graph={graph} id={id} change={change} />
    </Stack>
  );
}

/** Identifies a group of fields. It becomes part of ids, so it has no spaces. */
const groupKey = ({ fields }: FieldGroup): string => fields[0]?.name ?? '';

/** The ID changes on blur or Enter, because a partly typed ID may belong to another node. */
function IdInput({
  graph,
  id,
  error,
  onRename,
}: {
  graph: Graph;
  id: string;
  error: string | undefined;
  onRename: (to: string) => void;
}) {
  const [typed, setTyped] = useState<string>();
  const taken = typed !== undefined && typed !== id && nodeOf(graph, typed) !== undefined;
  const take = (): void => {
    setTyped(undefined);
    if (typed !== undefined && typed !== '' && typed !== id && !taken) onRename(typed);
  };
  return (
    <TextInput
      label={text.id}
      description={text.idAbout}
      data-field="id"
      value={typed ?? id}
      error={taken ? text.idTaken : error}
      onChange={(event) => setTyped(event.currentTarget.value)}
      onBlur={take}
      onKeyDown={(event) => {
        if (event.key === 'Enter') take();
      }}
    />
  );
}

const labelOf = (node: JsonRecord): string =>
  typeof node['label'] === 'string' ? node['label'] : '';

function marksOf(
  mistakes: readonly Mistake[],
  id: string,
  kind: Parameters<typeof fieldAt>[1] | undefined,
): Map<string, FieldMark[]> {
  const marks = new Map<string, FieldMark[]>();
  if (kind === undefined) return marks;
  for (const { nodeId, path, message, position, severity } of mistakes) {
    const field = nodeId === id ? fieldAt(path, kind) : undefined;
    if (field === undefined) continue;
    const within = placeWithin(path, field);
    const mark = { message: withoutNode(message), position, severity, within };
    marks.set(field, [...(marks.get(field) ?? []), mark]);
  }
  return marks;
}

/** The message at the field of a node, which need not name the node. */
const withoutNode = (message: string): string =>
  sentenceCase(message.replace(/^Node '[^']*': /, ''));

/** `[0].approval` for `nodes[3].tools[0].approval` and the field `tools`. */
const placeWithin = (path = '', field: string): string =>
  path.slice(path.indexOf(`.${field}`) + 1 + field.length);
