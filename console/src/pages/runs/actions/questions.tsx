import { List } from '@mantine/core';
import type { Run } from '#client/index.ts';
import { resumeEffect as text, runActions } from '#console/src/messages/en/runs/actions.ts';
import { Message } from '#console/src/messages/message.tsx';
import {
  cancelFacts,
  namesText,
  type ResumeFacts,
  resumeFacts,
} from '#console/src/pages/runs/run-facts.ts';
import type { Question } from '#console/src/parts/forms/confirm.tsx';

/** What to ask before a resume. */
export const resumeQuestion = (run: Run): Question => ({
  title: runActions.resume.title,
  consequence: <ResumeEffect facts={resumeFacts(run)} />,
  confirm: runActions.resume.confirm,
  dangerous: false,
});

/** What to ask before a run is cancelled. */
export const cancelQuestion = (run: Run): Question => ({
  title: runActions.cancel.title,
  consequence: <CancelEffect run={run} />,
  confirm: runActions.cancel.confirm,
  cancelLabel: runActions.cancel.keep,
});

const expectations: Record<ResumeFacts['after'], string | undefined> = {
  ...text.expect,
  other: undefined,
};

/** The effect of a resume. */
export function ResumeEffect({ facts: { again, kept, after } }: { facts: ResumeFacts }) {
  return (
    <List size="sm" spacing={4}>
      <List.Item>
        {again.length === 0 ? (
          text.starts
        ) : (
          <Message text={text.again(again.length)} values={{ names: namesText(again) }} />
        )}
      </List.Item>
      <List.Item>{keptText(kept)}</List.Item>
      {expectations[after] !== undefined && <List.Item>{expectations[after]}</List.Item>}
    </List>
  );
}

const keptText = (kept: number): string => (kept === 0 ? text.noneKept : text.kept(kept));

function CancelEffect({ run }: { run: Run }) {
  const { stopped, kept, gates } = cancelFacts(run);
  const { cancel } = runActions;
  return (
    <List size="sm" spacing={4}>
      <List.Item>{cancel.ends}</List.Item>
      {stopped.length > 0 && (
        <List.Item>
          <Message text={cancel.stops(stopped.length)} values={{ names: namesText(stopped) }} />
        </List.Item>
      )}
      {gates > 0 && <List.Item>{cancel.gatesClose(gates)}</List.Item>}
      <List.Item>{keptText(kept)}</List.Item>
      <List.Item>{cancel.resumable}</List.Item>
    </List>
  );
}
