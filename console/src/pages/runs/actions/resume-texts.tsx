import { List } from '@mantine/core';
import { resumeEffect as text } from '#console/src/messages/en/runs/actions.ts';
import { Message } from '#console/src/messages/message.tsx';
import { namesText, type ResumeFacts } from '#console/src/pages/runs/run-facts.ts';

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

export const keptText = (kept: number): string => (kept === 0 ? text.noneKept : text.kept(kept));
