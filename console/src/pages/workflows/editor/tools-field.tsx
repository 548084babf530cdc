import { Accordion, Button, Group, Input, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { toolsField as text } from '#console/src/messages/en/workflows/node-fields.ts';
import { AddSelect } from '#console/src/parts/forms/add-select.tsx';
import { UserText } from '#console/src/parts/text/user-text.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import {
  addedTool,
  approvalMode,
  freeTools,
  optionOf,
  toolNameOf,
  workflowTools,
} from './agent-tools.ts';
import { type FieldMark, marksText } from './field-marks.ts';
import { EffectTag, ToolOption } from './pickers/tool-input.tsx';
import { useToolFacts } from './pickers/use-tool-facts.ts';
import { type RenderField, ToolOptions } from './tool-options.tsx';

interface ToolsFieldProps {
  label: string;
  description: string | undefined;
  value: unknown;
  onChange: (value: unknown) => void;
  marks: readonly FieldMark[];
  /** The names of all tools, without the workflows that can be offered. */
  tools: readonly string[];
  /** The form's own fields, for the options. */
  input: RenderField;
}

/** The tools of an agent: which it can call, and what applies to each. */
export function ToolsField({
  label,
  description,
  value,
  onChange,
  marks,
  tools,
  input,
}: ToolsFieldProps) {
  const entries: readonly unknown[] = Array.isArray(value) ? value : [];
  const workflows = useQuery(workflowsQuery).data ?? [];
  const factsOf = useToolFacts();
  const [open, setOpen] = useState<string[]>([]);
  const save = (next: readonly unknown[]): void => onChange(next.length === 0 ? undefined : next);
  const marked = entries.flatMap((_, at) => (marksAt(marks, at).length > 0 ? [String(at)] : []));
  return (
    <Input.Wrapper
      label={label}
      description={description}
      error={marksText(marks.filter(({ within = '' }) => !WITHIN_ENTRY.test(within)))}
      labelElement="div"
      role="group"
      aria-label={label}
    >
      <Stack gap="xs" mt={4}>
        <Accordion
          multiple
          variant="contained"
          // Errors are shown beside their fields.
          value={[...new Set([...open, ...marked])]}
          onChange={setOpen}
          keepMounted={false}
          order={4}
        >
          {entries.map((entry, at) => (
            <Accordion.Item key={`${at} ${toolNameOf(entry)}`} value={String(at)}>
              <Accordion.Control>
                <Group gap="xs" justify="space-between" wrap="nowrap">
                  <UserText>{toolNameOf(entry)}</UserText>
                  <EffectTag effect={factsOf(toolNameOf(entry)).effect} />
                </Group>
                <Dimmed size="xs">
                  {text.approval[approvalMode(optionOf(entry, 'approval'))]}
                </Dimmed>
              </Accordion.Control>
              <Accordion.Panel>
                <Stack gap="sm">
                  <ToolOptions
                    entry={entry}
                    onChange={(next) => save(entries.with(at, next))}
                    marks={marksAt(marks, at)}
                    input={input}
                  />
                  <Button
                    variant="light"
                    color="danger"
                    size="xs"
                    onClick={() => {
                      setOpen([]);
                      save(entries.toSpliced(at, 1));
                    }}
                  >
                    {text.remove}
                  </Button>
                </Stack>
              </Accordion.Panel>
            </Accordion.Item>
          ))}
        </Accordion>
        <AddSelect
          label={text.add}
          placeholder={text.select}
          data={freeTools([...tools, ...workflowTools(workflows)], entries)}
          nothingFoundMessage={text.noMore}
          renderOption={({ option }) => (
            <ToolOption tool={option.value} {...factsOf(option.value)} />
          )}
          onAdd={(name) => save([...entries, addedTool(name, factsOf(name))])}
        />
      </Stack>
    </Input.Wrapper>
  );
}

/** Such marks are shown at the entry. */
const WITHIN_ENTRY = /^\[\d+\]\./;

/** The marks within one entry; their places then start in the entry. */
function marksAt(marks: readonly FieldMark[], at: number): FieldMark[] {
  const start = `[${at}].`;
  return marks.flatMap((mark) =>
    mark.within?.startsWith(start) === true
      ? [{ ...mark, within: mark.within.slice(start.length) }]
      : [],
  );
}
