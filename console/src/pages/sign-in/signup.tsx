import { Button, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useAction } from '../../parts/action.ts';
import { Failure } from '../../parts/failure.tsx';
import { UserText } from '../../parts/user-text.tsx';
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
    <SignInFrame title="Sign up" about="An administrator lets you in before you can sign in.">
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
            label="E-mail"
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
        You have an account? <ToSignIn>Sign in</ToSignIn>.
      </Text>
    </SignInFrame>
  );
}

function Pending({ email }: { email: string }) {
  return (
    <SignInFrame title="Your request is waiting">
      <div role="status">
        <Text size="sm">
          <UserText>{email}</UserText> is noted. An administrator of the workspace has to let you
          in, on the members page. Nothing is mailed when that is done: ask one if it takes long.
        </Text>
      </div>
      <Text size="sm">
        Afterwards <ToSignIn /> with your e-mail and the password you have just chosen.
      </Text>
    </SignInFrame>
  );
}

const ToSignIn = ({ children = 'sign in' }: { children?: string }) => (
  <TextLink to="/login" underline="always">
    {children}
  </TextLink>
);
