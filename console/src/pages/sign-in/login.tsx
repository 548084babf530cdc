import { Page } from '../../parts/page.tsx';

export function LoginPage() {
  return <Page title="Login">{null}</Page>;
}
