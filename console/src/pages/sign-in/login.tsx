import { Alert, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Identity } from '../../../../client/index.ts';
import { UserText } from '../../parts/text/user-text.tsx';
import { TextLink } from '../../parts/links.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { identityQuery } from '../../queries/identity.ts';
import { sessionEnded, useSessionToken } from '../../session.ts';
import { LoginForm } from './login-form.tsx';
import { nextPath } from './next-path.ts';
import { SignInFrame } from './sign-in-frame.tsx';

/** Redirects users who are already signed in, here or in another tab. */
export function LoginPage() {
  const { next } = useSearch({ from: '/login' });
  const router = useRouter();
  useSessionToken();
  const identity = useQuery(identityQuery);
  const signedIn = identity.data?.credential === 'session';
  useEffect(() => {
    if (signedIn) router.history.replace(nextPath(next, window.location.origin));
  }, [signedIn, next, router]);
  return (
    <SignInFrame title="Sign in">
      {sessionEnded() && (
        <Alert color="yellow" role="status" title="Your session has ended">
          Sign in again to continue where you left off.
        </Alert>
      )}
      <Loaded query={identity}>
        {(somebody) => (somebody === null ? <SignIn /> : <OpenMode owner={somebody} next={next} />)}
      </Loaded>
    </SignInFrame>
  );
}

function SignIn() {
  return (
    <>
      <LoginForm />
      <Text size="sm">
        No account yet? <TextLink to="/signup">Sign up</TextLink> or{' '}
        <TextLink to="/invite">use an invite code</TextLink>.
      </Text>
    </>
  );
}

/** Shown by services where requests without a credential act as the owner. */
function OpenMode({ owner, next }: { owner: Identity; next: string | undefined }) {
  const router = useRouter();
  const [form, setForm] = useState(false);
  return (
    <>
      <Text size="sm">
        This service is in open mode, so sign-in is not required. You act as{' '}
        <UserText>{owner.name ?? 'the owner'}</UserText>, the workspace owner.
      </Text>
      <Button onClick={() => router.history.push(nextPath(next, window.location.origin))}>
        Continue
      </Button>
      {form ? (
        <LoginForm />
      ) : (
        <Button variant="subtle" onClick={() => setForm(true)}>
          Sign in anyway
        </Button>
      )}
    </>
  );
}
