import { Box, PasswordInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { api } from '#console/src/api.ts';
import { passwordForm as text } from '#console/src/messages/en/people/account.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { Dimmed } from '#console/src/parts/text/dimmed.tsx';
import { useIdentity } from '#console/src/queries/identity.ts';
import { signIn } from '#console/src/session.ts';

const LEAST_CHARACTERS = 10;
const MOST_CHARACTERS = 256;

/** Changes the user's own password. All other sessions end; this one continues with a new token. */
export function PasswordForm() {
  const { email } = useIdentity();
  const form = useForm({ initialValues: { current: '', next: '', again: '' } });
  const { current, next, again } = form.values;
  const change = useAction(
    (body: { current_password: string; new_password: string }) => api().changePassword(body),
    {
      changes: [],
      done: text.changed,
      onDone: ({ token }) => {
        signIn(token);
        form.reset();
      },
      quiet: true,
    },
  );
  const short = next !== '' && next.length < LEAST_CHARACTERS;
  const differs = again !== '' && again !== next;
  return (
    <Box maw={420}>
      <Form
        action={change}
        submit={text.change}
        onSubmit={() => change.mutate({ current_password: current, new_password: next })}
        ready={current !== '' && next.length >= LEAST_CHARACTERS && again === next}
      >
        <Dimmed>{text.about}</Dimmed>
        {/* Password managers need the username. */}
        <input type="text" autoComplete="username" value={email ?? ''} readOnly hidden />
        <PasswordInput
          label={text.current}
          autoComplete="current-password"
          maxLength={MOST_CHARACTERS}
          required
          {...form.getInputProps('current')}
        />
        <PasswordInput
          label={text.new}
          description={text.atLeast(LEAST_CHARACTERS)}
          autoComplete="new-password"
          maxLength={MOST_CHARACTERS}
          required
          {...form.getInputProps('next')}
          error={short ? text.atLeast(LEAST_CHARACTERS) : undefined}
        />
        <PasswordInput
          label={text.confirm}
          autoComplete="new-password"
          maxLength={MOST_CHARACTERS}
          required
          {...form.getInputProps('again')}
          error={differs ? text.differs : undefined}
        />
      </Form>
    </Box>
  );
}
