import { Alert, Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Identity } from '#client/index.ts';
import { login as text } from '#console/src/messages/en/sign-in.ts';
import { Message } from '#console/src/messages/message.tsx';
import { TextLink } from '#console/src/parts/links.tsx';
import { Loaded } from '#console/src/parts/loaded.tsx';
import { identityQuery } from '#console/src/queries/identity.ts';
import { sessionEnded, useSessionToken } from '#console/src/session.ts';
import { AUTHORIZE_PATH } from '#console/src/pages/authorizations/request.ts';
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
    if (!signedIn) return;
    const path = nextPath(next, window.location.origin);
    // As a document, so that the page reads its address as the client wrote it.
    if (path.startsWith(`${AUTHORIZE_PATH}?`)) window.location.replace(path);
    else router.history.replace(path);
  }, [signedIn, next, router]);
  return (
    <SignInFrame title={text.title}>
      {sessionEnded() && (
        <Alert color="warning" role="status" title={text.ended}>
          {text.endedAbout}
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
        <Message
          text={text.noAccount}
          values={{
            signUp: <TextLink to="/signup">{text.signUp}</TextLink>,
            useCode: <TextLink to="/invite">{text.useCode}</TextLink>,
          }}
        />
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
        <Message text={text.openMode} values={{ owner: owner.name ?? text.owner }} />
      </Text>
      <Button onClick={() => router.history.push(nextPath(next, window.location.origin))}>
        {text.continue}
      </Button>
      {form ? (
        <LoginForm />
      ) : (
        <Button variant="subtle" onClick={() => setForm(true)}>
          {text.anyway}
        </Button>
      )}
    </>
  );
}
