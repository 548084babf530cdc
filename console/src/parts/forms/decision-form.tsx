import { Button, Group, Kbd, Paper, Stack, Text, Textarea } from '@mantine/core';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { JsonObject, PendingGate } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useIdentity, useMay } from '../../queries/identity.ts';
import { runsKey } from '../../queries/runs.ts';
import { metricsQuery } from '../../queries/workspace.ts';
import { useAction } from './action.ts';
import { CodeEditor } from '../code/code-editor.tsx';
import { Failure } from '../failure.tsx';
import { useShortcuts, useShortcutsOn } from '../shortcuts.ts';

/** The API's limit. */
const MAX_REASON_LENGTH = 1_000;

type Choice = 'approve' | 'reject';

interface DecisionProps {
  runId: string;
  gate: PendingGate;
  /** The effect of a rejection, if known. */
  rejection?: string | undefined;
  onDecided?: (approved: boolean) => void;
}

/**
 * Decides an open gate: two buttons, then a form for the reason and the input. Users without the permission see a note.
 * With `shortcuts`, the keys `a` and `r` open the form.
 */
export function DecisionForm({
  shortcuts = false,
  ...decision
}: DecisionProps & { shortcuts?: boolean }) {
  const { gate } = decision;
  if (!useMay('approve_gates')) return <MayNotDecide />;
  // A gate that opens again is a new decision: the key discards the text of the last one.
  return <Choices key={`${gate.step_key} ${gate.since}`} shortcuts={shortcuts} {...decision} />;
}

function MayNotDecide() {
  const { role } = useIdentity();
  return (
    <Text size="sm" c="dimmed">
      You can view this gate but not decide it. Your role ({role}) does not have the approve_gates
      permission. Ask an administrator for access.
    </Text>
  );
}

function Choices({ shortcuts, ...decision }: DecisionProps & { shortcuts: boolean }) {
  const [choice, setChoice] = useState<Choice>();
  const [shortcutsOn] = useShortcutsOn();
  const buttons = useRef<HTMLDivElement>(null);
  const left = useRef<Choice>(undefined);
  // Off while the form is open, since its text would be lost.
  const keyed = shortcuts && choice === undefined;
  useShortcuts(keyed ? { a: () => setChoice('approve'), r: () => setChoice('reject') } : {});
  useEffect(() => {
    // Returns the focus to the button that opened the form.
    if (choice !== undefined) left.current = choice;
    else if (left.current !== undefined) {
      buttons.current?.querySelector<HTMLElement>(`[data-choice="${left.current}"]`)?.focus();
    }
  }, [choice]);
  if (choice !== undefined) {
    const cancel = (): void => setChoice(undefined);
    return <Decision key={choice} choice={choice} onCancel={cancel} {...decision} />;
  }
  const hint = (key: string) =>
    // Hidden on small screens, which rarely have a keyboard.
    shortcuts &&
    shortcutsOn && (
      <Kbd size="xs" visibleFrom="sm">
        {key}
      </Kbd>
    );
  return (
    <Group gap="sm" ref={buttons}>
      <Button
        color="teal.9"
        data-choice="approve"
        rightSection={hint('a')}
        onClick={() => setChoice('approve')}
      >
        Approve
      </Button>
      <Button
        variant="default"
        data-choice="reject"
        rightSection={hint('r')}
        onClick={() => setChoice('reject')}
      >
        Reject
      </Button>
    </Group>
  );
}

function useDecision({
  choice,
  runId,
  gate,
  onDecided,
  onCancel,
}: {
  choice: Choice;
  runId: DecisionProps['runId'];
  gate: DecisionProps['gate'];
  onDecided: DecisionProps['onDecided'];
  onCancel: () => void;
}) {
  const approved = choice === 'approve';
  const [reason, setReason] = useState('');
  const [input, setInput] = useState<string>();
  const [mistake, setMistake] = useState<string>();
  const send = useAction(
    (given: JsonObject | undefined) =>
      api().approve(runId, approved, given, {
        // Decides only this iteration of a loop, not a later one.
        stepKey: gate.step_key,
        ...(reason.trim() !== '' && { reason: reason.trim() }),
      }),
    {
      changes: [runsKey, metricsQuery.queryKey],
      done: `${approved ? 'Approved' : 'Rejected'}: ${gate.label}`,
      onDone: () => onDecided?.(approved),
      quiet: true,
    },
  );
  const decide = (): void => {
    const read = readObject(input ?? '');
    setMistake(read.mistake);
    if (read.mistake === undefined && !send.isPending) send.mutate(read.value);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') return onCancel();
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    // Before the editor inserts a line break.
    event.preventDefault();
    event.stopPropagation();
    decide();
  };
  return { approved, press, decide, reason, setReason, input, setInput, mistake, send };
}

type DecisionState = ReturnType<typeof useDecision>;

function Decision({
  runId,
  gate,
  rejection,
  onDecided,
  choice,
  onCancel,
}: DecisionProps & { choice: Choice; onCancel: () => void }) {
  const state = useDecision({ choice, runId, gate, onDecided, onCancel });
  const { approved, press, decide, send } = state;
  return (
    <Paper withBorder p="md">
      <form
        aria-label={approved ? 'Approve' : 'Reject'}
        onKeyDownCapture={press}
        onSubmit={(event) => {
          event.preventDefault();
          decide();
        }}
      >
        <Stack gap="sm">
          <Text size="sm">
            {approved
              ? 'The run continues from here.'
              : (rejection ?? 'Takes the "rejected" path, or fails if the workflow has none.')}
          </Text>
          <ReasonField {...state} />
          <InputField {...state} />
          {send.error !== null && <Failure error={send.error} />}
          <Group gap="sm">
            <Button type="submit" color={approved ? 'teal.9' : 'red.9'} loading={send.isPending}>
              {approved ? 'Send approval' : 'Send rejection'}
            </Button>
            <Button variant="default" onClick={onCancel}>
              Cancel
            </Button>
            <Text size="xs" c="dimmed">
              <Kbd size="xs">Ctrl</Kbd> <Kbd size="xs">Enter</Kbd> to send
            </Text>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}

function ReasonField({ approved, reason, setReason }: DecisionState) {
  return (
    <Textarea
      label="Reason"
      description={`Optional. Saved with the decision${approved ? '' : ' and shown in the error if the run fails'}.`}
      maxLength={MAX_REASON_LENGTH}
      autosize
      minRows={2}
      maxRows={6}
      autoFocus
      value={reason}
      onChange={(event) => setReason(event.currentTarget.value)}
    />
  );
}

function InputField({ input, setInput, mistake }: DecisionState) {
  return input === undefined ? (
    <Button variant="subtle" size="compact-sm" w="fit-content" onClick={() => setInput('{}')}>
      Add input
    </Button>
  ) : (
    <CodeEditor
      label="Input"
      description="A JSON object. Its keys are added to the run state."
      language="json"
      minHeight={60}
      maxHeight={240}
      value={input}
      onChange={setInput}
      error={mistake}
    />
  );
}

/** Parses a JSON object. Empty text and an empty object have no value. */
function readObject(text: string): { value?: JsonObject; mistake?: string } {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return Object.keys(value).length === 0 ? {} : { value: value as JsonObject };
    }
    return { mistake: 'Enter a JSON object, like {"note": "fine"}' };
  } catch (error) {
    return { mistake: `Invalid JSON: ${(error as Error).message}` };
  }
}
