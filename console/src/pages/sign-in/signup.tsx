import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useAction } from '../../parts/forms/action.ts';
import { Failure } from '../../parts/failure.tsx';
import { UserText } from '../../parts/text/user-text.tsx';
import { TextLink } from '../../parts/links.tsx';
import { NewPassword } from './new-password.tsx';
import { SignInFrame } from './sign-in-frame.tsx';

export function SignupPage() {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const signup = useAction(() => api().signup({ name, email, password }), {
    changes: [],
    quiet: true,
  });
  if (signup.data !== undefined) return <Pending email={signup.data.email} />;
  return (
    <SignInFrame
      title="Sign up"
      about="An administrator must approve your account before you can sign in."
    >
      <form
        aria-label="Sign up"
        onSubmit={(event) => {
          event.preventDefault();
          signup.mutate(undefined);
        }}
      >
        <Stack gap="md">
          <TextInput
            label="Name"
            autoComplete="name"
            required
            autoFocus
            maxLength={200}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            required
            maxLength={254}
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
          />
          <NewPassword value={password} onChange={setPassword} />
          {signup.error !== null && <Failure error={signup.error} />}
          <Button type="submit" loading={signup.isPending}>
            Sign up
          </Button>
        </Stack>
      </form>
      <Text size="sm">
        Already have an account? <ToSignIn>Sign in</ToSignIn>.
      </Text>
    </SignInFrame>
  );
}

function Pending({ email }: { email: string }) {
  return (
    <SignInFrame title="Waiting for approval">
      <div role="status">
        <Text size="sm">
          An administrator must approve <UserText>{email}</UserText> on the Members page. You will
          not get an email about it. If it takes too long, ask an administrator.
        </Text>
      </div>
      <Text size="sm">
        Once approved, <ToSignIn /> with your email and password.
      </Text>
    </SignInFrame>
  );
}

const ToSignIn = ({ children = 'sign in' }: { children?: string }) => (
  <TextLink to="/login" underline="always">
    {children}
  </TextLink>
);
