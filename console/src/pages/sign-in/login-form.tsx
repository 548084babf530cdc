import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '#console/src/api.ts';
import { loginForm as text } from '#console/src/messages/en/sign-in.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { Failure } from '#console/src/parts/failure.tsx';
import { signIn } from '#console/src/session.ts';

export function LoginForm() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const login = useAction(() => api().login(email, password), {
    changes: [],
    quiet: true,
    onDone: ({ token }) => signIn(token),
  });
  return (
    <form
      aria-label={text.label}
      onSubmit={(event) => {
        event.preventDefault();
        login.mutate(undefined);
      }}
    >
      <Stack gap="md">
        <TextInput
          label={text.email}
          type="email"
          autoComplete="username"
          required
          autoFocus
          maxLength={254}
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          label={text.password}
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        {login.error !== null && <Failure error={login.error} />}
        <Button type="submit" loading={login.isPending}>
          {text.submit}
        </Button>
      </Stack>
    </form>
  );
}
