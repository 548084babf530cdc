import { List } from '@mantine/core';
import { UserText } from '../../../parts/text/user-text.tsx';
import { countText } from '../../../parts/text/numbers.ts';
import { namesText, type ResumeFacts } from '../run-facts.ts';

const expectations: Record<ResumeFacts['after'], string | undefined> = {
  budget: 'The budget is checked again. If it has no room, the run stops at the same step.',
  rejected: 'The gate asks for a decision again.',
  cancelled: 'The run continues from where it was cancelled.',
  other: undefined,
};

/** The effect of a resume. */
export function ResumeEffect({ facts: { again, kept, after } }: { facts: ResumeFacts }) {
  return (
    <List size="sm" spacing={4}>
      <List.Item>
        {again.length === 0 ? (
          'The remaining steps start.'
        ) : (
          <>
            <UserText>{namesText(again)}</UserText> {again.length === 1 ? 'runs' : 'run'} again,
            followed by the remaining steps.
          </>
        )}
      </List.Item>
      <List.Item>{keptText(kept)}</List.Item>
      {expectations[after] !== undefined && <List.Item>{expectations[after]}</List.Item>}
    </List>
  );
}

export function keptText(kept: number): string {
  if (kept === 0) return 'No step has completed yet.';
  return kept === 1
    ? '1 completed step is kept and not charged again.'
    : `${countText(kept)} completed steps are kept and not charged again.`;
}
