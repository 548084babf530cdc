import { List } from '@mantine/core';
import { UserText } from '../../parts/user-text.tsx';
import { countText } from '../../parts/numbers.ts';
import { namesText, type ResumeFacts } from './run-facts.ts';

const expectations: Record<ResumeFacts['after'], string | undefined> = {
  budget: 'The budget is asked again: without room in it the run stops at the same place.',
  rejected: 'The gate asks again.',
  cancelled: 'It goes on from where it was cancelled.',
  other: undefined,
};

/** What a resume does, in words. */
export function ResumeEffect({ facts: { again, kept, after } }: { facts: ResumeFacts }) {
  return (
    <List size="sm" spacing={4}>
      <List.Item>
        {again.length === 0 ? (
          'It starts what is left to do.'
        ) : (
          <>
            It executes <UserText>{namesText(again)}</UserText> again, and then what follows.
          </>
        )}
      </List.Item>
      <List.Item>{keptText(kept)}</List.Item>
      {expectations[after] !== undefined && <List.Item>{expectations[after]}</List.Item>}
    </List>
  );
}

export function keptText(kept: number): string {
  if (kept === 0) return 'No step has finished yet.';
  const steps = kept === 1 ? '1 finished step stays' : `${countText(kept)} finished steps stay`;
  return `${steps} as ${kept === 1 ? 'it is' : 'they are'}, and cost nothing again.`;
}
