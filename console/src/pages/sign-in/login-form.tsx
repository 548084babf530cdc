import { PasswordInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '#console/src/api.ts';
import { loginForm as text } from '#console/src/messages/en/sign-in.ts';
import { useAction } from '#console/src/parts/forms/action.ts';
import { signIn } from '#console/src/session.ts';
import { SignInForm } from './sign-in-frame.tsx';

export function LoginForm() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const login = useAction(() => api().login(email, password), {
    changes: [],
    quiet: true,
    onDone: ({ token }) => signIn(token),
  });
  return (
    <SignInForm label={text.label} submit={text.submit} action={login}>
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
    </SignInForm>
  );
}
