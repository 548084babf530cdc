import { Alert, Button, Group, Stack, Textarea, Title } from '@mantine/core';
import { useState } from 'react';
import {
  ApiError,
  type Consequences,
  type JsonObject,
  type LinkDecision,
  type OpenedLink,
} from '#client/index.ts';
import { consequences as listsText } from '#console/src/messages/en/consequences.ts';
import { decide as text } from '#console/src/messages/en/decide.ts';
import { words } from '#console/src/messages/en/words.ts';
import { ConsequenceLists } from '#console/src/parts/consequences/consequences.tsx';
import { Failure } from '#console/src/parts/failure.tsx';
import { useAction } from '#console/src/parts/forms/action.ts';
import { ArgumentsField } from '#console/src/parts/forms/arguments-field.tsx';
import { Unsatisfiable } from '#console/src/parts/forms/decision-notes.tsx';
import { startOfSchema } from '#console/src/parts/forms/schema-fields.ts';
import { SchemaForm } from '#console/src/parts/forms/schema-form.tsx';
import { Rechecked } from '#console/src/parts/forms/rechecked.tsx';
import { isConflict, isInvalid, useAccepted } from '#console/src/parts/forms/use-decision.ts';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';

/** The API's limit. */
const MAX_REASON_LENGTH = 1_000;

interface Answer {
  decision: LinkDecision['decision'];
  digest: string | undefined;
  reason: string | undefined;
  input?: JsonObject;
  arguments?: JsonObject;
  accept_changes?: true;
}

/** What a gate shows, and the digest that a decision sends. */
interface Shown {
  digest: string | null;
  consequences: Consequences | null;
}

interface FormProps {
  link: OpenedLink;
  send: (answer: Answer) => Promise<LinkDecision>;
  onDecided: (made: LinkDecision) => void;
}

/** Decides the gate of a link: its form or its arguments, a reason, and two buttons. A refusal keeps what was entered. */
export function DecideLinkForm({ link, send, onDecided }: FormProps) {
  const { gate, tool, schema_problem: problem } = link;
  const { tool_call: call, input_schema: schema } = gate;
  const [form, setForm] = useState(() => startOfSchema(schema));
  const [edited, setEdited] = useState<JsonObject>();
  const [reason, setReason] = useState('');
  const [broken, setBroken] = useState(false);
  const [shown, setShown] = useState<Shown>(link);
  const [stale, setStale] = useState(gate.stale);
  const changes = useAccepted({ stale });
  const decide = useAction(
    (decision: Answer['decision']) =>
      send({
        decision,
        digest: shown.digest ?? undefined,
        reason: reason.trim() === '' ? undefined : reason.trim(),
        ...(decision === 'approve' && schema !== undefined ? { input: form } : {}),
        ...(decision === 'approve' && edited !== undefined ? { arguments: edited } : {}),
        ...(decision === 'approve' && changes.accepted ? { accept_changes: true as const } : {}),
      }),
    { changes: [], quiet: true, onDone: onDecided },
  );
  const press = (decision: Answer['decision']): void =>
    decide.mutate(decision, {
      onError: (error) => {
        const now = shownIn(error);
        if (now !== undefined) setShown(now);
        setStale((before) => staleIn(error) ?? before);
      },
    });
  const refusal = isInvalid(decide.error) ? decide.error.detail : undefined;
  const changed = isConflict(decide.error) && shownIn(decide.error) !== undefined;
  const differs = staleIn(decide.error) !== undefined;
  return (
    <form aria-label={text.form} onSubmit={(event) => event.preventDefault()}>
      <Stack gap="md">
        {problem !== null && <Unsatisfiable problem={problem} />}
        {call?.arguments != null && (
          <ArgumentsField
            of={call.tool}
            given={call.arguments}
            tool={tool}
            edited={edited}
            onEdited={setEdited}
            onBroken={setBroken}
            refusal={refusal}
          />
        )}
        {schema !== undefined && (
          <SchemaForm
            schema={schema}
            value={form}
            onChange={setForm}
            onBroken={setBroken}
            refusal={refusal}
          />
        )}
        {changed && (
          <Alert color="danger" role="alert">
            {text.changedNow}
          </Alert>
        )}
        <Title order={2} size="h5">
          {text.follows}
        </Title>
        {shown.consequences === null ? (
          gate.kind === 'human_gate' && <Dimmed>{listsText.unknown}</Dimmed>
        ) : (
          <ConsequenceLists kind={gate.kind} shown={shown.consequences} />
        )}
        <Textarea
          label={words.reason}
          description={text.reasonAbout}
          maxLength={MAX_REASON_LENGTH}
          autosize
          minRows={1}
          maxRows={6}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <Rechecked gate={{ ...gate, stale }} decision={changes} />
        {decide.error !== null && !changed && !differs && <Failure error={decide.error} />}
        <Group gap="sm" className="decision-buttons" grow>
          <Button
            color="success.9"
            loading={decide.isPending}
            disabled={broken || problem !== null}
            onClick={() => press('approve')}
          >
            {text.approve}
          </Button>
          <Button variant="default" disabled={decide.isPending} onClick={() => press('reject')}>
            {text.reject}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** What a recheck has found, in the refusal of an approval. */
function staleIn(error: unknown): OpenedLink['gate']['stale'] {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  return (error.stale ?? undefined) as OpenedLink['gate']['stale'];
}

/** What the gate shows now, in the refusal of a decision about something else. */
function shownIn(error: unknown): Shown | undefined {
  if (!(error instanceof ApiError) || error.status !== 409) return undefined;
  const current = error.current as Shown | null | undefined;
  return typeof current?.digest === 'string' ? current : undefined;
}
