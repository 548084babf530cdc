import { Box, Button, Textarea } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Gate, PendingGate } from '#client/index.ts';
import { words } from '#console/src/messages/en/words.ts';
import { decisionFields as texts } from '#console/src/messages/en/gates.ts';
import { CodeEditor } from '#console/src/parts/code/code-editor.tsx';
import { ArgumentsField } from './arguments-field.tsx';
import { SchemaForm } from './schema-form.tsx';
import { type AnswerKeys, decisionPart } from './use-answer-keys.ts';
import type { DecisionState } from './use-decision.ts';

/** The API's limit. */
const MAX_REASON_LENGTH = 1_000;

interface FieldsProps {
  gate: PendingGate;
  tool: Gate['tool'];
  /** Why the service refused the input. */
  refusal: string | undefined;
  decision: DecisionState;
  keys: AnswerKeys;
  /** What follows from the form. */
  children: ReactNode;
}

/** The parts of a decision besides yes or no: the form of the gate or the arguments of the call, and the reason. */
export function DecisionFields({ gate, tool, refusal, decision, keys, children }: FieldsProps) {
  const { draft, change, form, broken } = decision;
  const { tool_call: call, input_schema: schema } = gate;
  const given = call?.arguments ?? null;
  return (
    <>
      {schema !== undefined && (
        <Box {...decisionPart.fields}>
          <SchemaForm
            schema={schema}
            value={form}
            onChange={(next) => change({ form: next })}
            onBroken={broken}
            refusal={refusal}
          />
        </Box>
      )}
      {given !== null && (
        <Box {...decisionPart.fields}>
          <ArgumentsField
            of={call?.tool ?? ''}
            given={given}
            tool={tool}
            edited={draft.edited}
            onEdited={(edited) => change({ edited })}
            onBroken={broken}
            refusal={refusal}
          />
        </Box>
      )}
      {children}
      <Textarea
        ref={keys.reason}
        label={words.reason}
        description={
          keys.armed
            ? texts.reasonRejects
            : call?.turn == null
              ? texts.reasonSaved
              : texts.reasonRead
        }
        onBlur={keys.leaveReason}
        maxLength={MAX_REASON_LENGTH}
        autosize
        minRows={1}
        maxRows={6}
        value={draft.reason ?? ''}
        onChange={(event) => change({ reason: event.currentTarget.value })}
      />
      {schema === undefined && call === undefined && (
        <Box {...decisionPart.fields}>
          <InputField {...decision} />
        </Box>
      )}
    </>
  );
}

const InputField = ({ draft: { input }, change, mistake }: DecisionState) =>
  input === undefined ? (
    <Button
      variant="subtle"
      size="compact-sm"
      w="fit-content"
      {...decisionPart.edit}
      onClick={() => change({ input: '{}' })}
    >
      {texts.addInput}
    </Button>
  ) : (
    <CodeEditor
      label={words.input}
      description={texts.inputAbout}
      language="json"
      minHeight={60}
      maxHeight={240}
      value={input}
      onChange={(text) => change({ input: text })}
      error={mistake}
    />
  );
