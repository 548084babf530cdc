import { Alert, Button, Group, Kbd, Paper, Stack, Text, Textarea } from '@mantine/core';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { ApiError, type JsonObject, type PendingGate } from '../../../../client/index.ts';
import { api } from '../../api.ts';
import { useIdentity, useMay } from '../../queries/identity.ts';
import { runsKey } from '../../queries/runs.ts';
import { metricsQuery } from '../../queries/workspace.ts';
import { useAction } from './action.ts';
import { CodeEditor } from '../code/code-editor.tsx';
import { changedFields } from '../data/changed-fields.ts';
import { Failure } from '../failure.tsx';
import { useShortcuts, useShortcutsOn } from '../shortcuts.ts';
import { describeError } from '../text/describe-error.ts';
import { ArgumentsField } from './arguments-field.tsx';
import { GateRules } from './gate-rules.tsx';
import { readObject } from './read-object.ts';
import { startOfSchema } from './schema-fields.ts';
import { SchemaForm } from './schema-form.tsx';
import { ToolCall } from './tool-call.tsx';

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

interface ConflictProps {
  /** Called when the service refuses the decision, because the gate has changed. */
  onConflict: (error: Error) => void;
}

/**
 * Decides an open gate: two buttons, then a form for the reason and the input, or the arguments of a tool call. Users
 * without the permission see a note. With `shortcuts`, the keys `a` and `r` open the form.
 */
export function DecisionForm({
  shortcuts = false,
  ...decision
}: DecisionProps & { shortcuts?: boolean }) {
  const { gate } = decision;
  const { tool_call: call } = gate;
  const mayDecide = useMay('approve_gates');
  const [conflict, setConflict] = useState<{ error: Error; digest: string | undefined }>();
  const digest = call?.digest;
  return (
    <>
      {call !== undefined && <ToolCall gate={gate} call={call} />}
      <GateRules gate={gate} />
      {conflict !== undefined && <Conflict {...conflict} now={digest} />}
      {mayDecide ? (
        <Choices
          // A gate that opens again, or has other arguments, is a new decision: the key discards the text of the last one.
          key={`${gate.step_key} ${gate.since} ${digest}`}
          shortcuts={shortcuts}
          onConflict={(error) => setConflict({ error, digest })}
          {...decision}
        />
      ) : (
        <MayNotDecide />
      )}
    </>
  );
}

/** Why a decision was refused. Stays when the gate is read again, since the form does not. */
function Conflict({
  error,
  digest,
  now,
}: {
  error: Error;
  /** Of the call that the user decided, and of the call that is open now. */
  digest: string | undefined;
  now: string | undefined;
}) {
  if (digest === now) return <Failure error={error} />;
  return (
    <Alert color="red" role="alert">
      The tool call has changed since you opened it, and nothing was sent. Check the new arguments,
      then decide again.
    </Alert>
  );
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

function Choices({
  shortcuts,
  ...decision
}: DecisionProps & ConflictProps & { shortcuts: boolean }) {
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
    const close = (): void => setChoice(undefined);
    const { onDecided } = decision;
    // The gate may need more approvals: then it stays, without the form.
    const decided = (approved: boolean): void => {
      close();
      onDecided?.(approved);
    };
    return (
      <Decision {...decision} key={choice} choice={choice} onCancel={close} onDecided={decided} />
    );
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

/** The request of a decision, without what it is about. */
interface Answer {
  input?: JsonObject;
  arguments?: JsonObject;
}

function useSend({
  approved,
  runId,
  gate,
  reason,
  onDecided,
  onConflict,
}: DecisionProps & ConflictProps & { approved: boolean; reason: string }) {
  const { tool_call: call } = gate;
  return useAction(
    async ({ input, arguments: edited }: Answer) => {
      try {
        return await api().approve(runId, approved, input, {
          // Decides only this iteration of a loop, or this call, not a later one.
          stepKey: gate.step_key,
          ...(call !== undefined && { digest: call.digest }),
          ...(edited !== undefined && { arguments: edited }),
          ...(reason.trim() !== '' && { reason: reason.trim() }),
        });
      } catch (error) {
        if (call !== undefined && isConflict(error)) onConflict(error);
        throw error;
      }
    },
    {
      changes: [runsKey, metricsQuery.queryKey],
      done: `${approved ? 'Approved' : 'Rejected'}: ${gate.label}`,
      onDone: () => onDecided?.(approved),
      quiet: true,
    },
  );
}

const isConflict = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 409;

function useDecision({
  choice,
  onCancel,
  ...decision
}: DecisionProps & ConflictProps & { choice: Choice; onCancel: () => void }) {
  const approved = choice === 'approve';
  const given = decision.gate.tool_call?.arguments ?? undefined;
  const [reason, setReason] = useState('');
  const [input, setInput] = useState<string>();
  const [edited, setEdited] = useState<string>();
  const [mistake, setMistake] = useState<string>();
  // A rejection needs no input.
  const schema = approved ? decision.gate.input_schema : undefined;
  const [form, setForm] = useState(() => startOfSchema(schema));
  const [broken, setBroken] = useState(false);
  const send = useSend({ ...decision, approved, reason });
  const decide = (): void => {
    if (send.isPending || broken) return;
    const answer = schema === undefined ? readAnswer({ input, edited, given }) : { input: form };
    setMistake('mistake' in answer ? answer.mistake : undefined);
    if (!('mistake' in answer)) send.mutate(answer);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') return onCancel();
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    // Before the editor inserts a line break.
    event.preventDefault();
    event.stopPropagation();
    decide();
  };
  const fields = { reason, setReason, input, setInput, edited, setEdited, mistake };
  const filled = { schema, form, setForm, setBroken };
  return { approved, given, press, decide, send, ...fields, ...filled };
}

/** The texts of the form as a request: without the ones that are empty or change nothing. */
function readAnswer({
  input = '',
  edited,
  given,
}: {
  input: string | undefined;
  edited: string | undefined;
  given: JsonObject | undefined;
}): Answer | { mistake: string } {
  if (edited !== undefined && given !== undefined) {
    const read = readObject(edited);
    if ('mistake' in read) return read;
    return changedFields(given, read.value).length === 0 ? {} : { arguments: read.value };
  }
  if (input.trim() === '') return {};
  const read = readObject(input);
  if ('mistake' in read) return read;
  return Object.keys(read.value).length === 0 ? {} : { input: read.value };
}

type DecisionState = ReturnType<typeof useDecision>;

function Decision(props: DecisionProps & ConflictProps & { choice: Choice; onCancel: () => void }) {
  const { gate, rejection, onCancel } = props;
  const state = useDecision(props);
  const { approved, press, decide, send } = state;
  const isCall = gate.tool_call !== undefined;
  const inField = state.edited !== undefined && isInvalid(send.error);
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
          <Text size="sm">{effectOf(approved, gate, rejection)}</Text>
          <ReasonField {...state} />
          {!isCall && <InputField {...state} />}
          {approved && state.given !== undefined && (
            <ArgumentsField
              given={state.given}
              text={state.edited}
              onText={state.setEdited}
              error={inField ? describeError(send.error) : undefined}
            />
          )}
          {send.error !== null && !inField && !(isCall && isConflict(send.error)) && (
            <Failure error={send.error} />
          )}
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

/** Whether the service refused the arguments themselves, such as by the schema of the tool. */
const isInvalid = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.status === 400;

function effectOf(approved: boolean, gate: PendingGate, rejection: string | undefined): string {
  if (gate.tool_call !== undefined) {
    return approved
      ? 'The agent calls the tool with exactly these arguments.'
      : 'The tool is not called. The agent gets your reason and can try something else.';
  }
  if (approved) {
    const missing = (gate.required ?? 1) - (gate.decisions?.length ?? 0);
    return missing > 1
      ? `The run continues after ${missing} more approvals, including yours.`
      : 'The run continues from here.';
  }
  return rejection ?? 'Takes the "rejected" path, or fails if the workflow has none.';
}

function ReasonField({ approved, given, reason, setReason }: DecisionState) {
  const rejected =
    given === undefined ? ' and shown in the error if the run fails' : ' and sent to the agent';
  const after = approved ? '' : rejected;
  return (
    <Textarea
      label="Reason"
      description={`Optional. Saved with the decision${after}.`}
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

function InputField({ input, setInput, mistake, ...state }: DecisionState) {
  const { schema, form, setForm, setBroken, send } = state;
  if (schema !== undefined) {
    return (
      <SchemaForm
        schema={schema}
        value={form}
        onChange={setForm}
        onBroken={setBroken}
        refusal={isInvalid(send.error) ? send.error.detail : undefined}
      />
    );
  }
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
