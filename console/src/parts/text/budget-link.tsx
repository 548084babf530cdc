import { Anchor } from '@mantine/core';
import { ApiError } from '#client/index.ts';
import { failure as text } from '#console/src/messages/en/parts/page.ts';
import { describeError } from './describe-error.ts';

/** Whether the service refused a run because a budget has no room for it. */
export const isOverBudget = (error: unknown): boolean =>
  error instanceof ApiError && error.status === 402 && /^budget/i.test(error.detail);

/** An error as a message outside of the pages, where links of the router do not work. */
export const ErrorMessage = ({ error }: { error: unknown }) => (
  <>
    {describeError(error)}
    {isOverBudget(error) && (
      <>
        {' '}
        <Anchor href="/budgets" inherit underline="always" c="inherit">
          {text.openBudgets}
        </Anchor>
      </>
    )}
  </>
);
