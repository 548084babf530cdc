import { Box, PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import { api } from '#console/src/api.ts';
import { passwordForm as text } from '#console/src/messages/en/people/account.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Form } from '#console/src/parts/forms/form.tsx';
import { useIdentity } from '#console/src/queries/identity.ts';
import { signIn } from '#console/src/session.ts';

const LEAST_CHARACTERS = 10;
const MOST_CHARACTERS = 256;

function usePasswordForm() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [again, setAgain] = useState('');
  const change = useAction(
    (body: { current_password: string; new_password: string }) => api().changePassword(body),
    {
      changes: [],
      done: text.changed,
      onDone: ({ token }) => {
        signIn(token);
        setCurrent('');
        setNext('');
        setAgain('');
      },
      quiet: true,
    },
  );
  const short = next !== '' && next.length < LEAST_CHARACTERS;
  const differs = again !== '' && again !== next;
  return { change, current, next, again, setCurrent, setNext, short, setAgain, differs };
}

type PasswordFormState = ReturnType<typeof usePasswordForm>;

/** Changes the user's own password. All other sessions end; this one continues with a new token. */
export function PasswordForm() {
  const { email } = useIdentity();
  const state = usePasswordForm();
  const { change, current, next, again } = state;
  return (
    <Box maw={420}>
      <Form
        action={change}
        submit={text.change}
        onSubmit={() => change.mutate({ current_password: current, new_password: next })}
        ready={current !== '' && next.length >= LEAST_CHARACTERS && again === next}
      >
        <Text size="sm" c="dimmed">
          {text.about}
        </Text>
        {/* Password managers need the username. */}
        <input type="text" autoComplete="username" value={email ?? ''} readOnly hidden />
        <PasswordFields {...state} />
      </Form>
    </Box>
  );
}

function PasswordFields({
  current,
  setCurrent,
  next,
  setNext,
  short,
  again,
  setAgain,
  differs,
}: PasswordFormState) {
  return (
    <>
      <PasswordInput
        label={text.current}
        autoComplete="current-password"
        value={current}
        onChange={(event) => setCurrent(event.currentTarget.value)}
        maxLength={MOST_CHARACTERS}
        required
      />
      <PasswordInput
        label={text.new}
        description={text.atLeast(LEAST_CHARACTERS)}
        autoComplete="new-password"
        value={next}
        onChange={(event) => setNext(event.currentTarget.value)}
        error={short ? text.atLeast(LEAST_CHARACTERS) : undefined}
        maxLength={MOST_CHARACTERS}
        required
      />
      <PasswordInput
        label={text.confirm}
        autoComplete="new-password"
        value={again}
        onChange={(event) => setAgain(event.currentTarget.value)}
        error={differs ? text.differs : undefined}
        maxLength={MOST_CHARACTERS}
        required
      />
    </>
  );
}
