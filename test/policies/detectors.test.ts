import { describe, expect, test } from '@jest/globals';
import { type DetectorName, detectorNames } from '#shared/contract/policies/policy.ts';
import { newApiKeySecret } from '#shared/crypto/api-key-secrets.ts';
import { compileRedaction } from '#shared/policies/redaction.ts';
import { growth } from '#test/support/growth.ts';
import { soakDescribe } from '#test/support/soak.ts';

/** Texts that each detector removes in part (between « and »), and texts that it must not change. */
const table: Record<DetectorName, { found: string[]; left: string[] }> = {
  email: {
    found: [
      'write to «jane.doe+news@example.co.uk».',
      '<«a@b.io»>',
      '"«jürgen@müller.de»"',
      'mailto:«x_1@mail.example.com»?subject=hi',
      'two: «a@example.com», «b@example.com»',
      'https://x.example/?mail=«jane%40example.com»&y=1',
      '(«o.reilly@example.museum»)',
    ],
    left: [
      'user@localhost',
      '@handle and @scope/package',
      'npm i @scope/pkg@1.2.3',
      'logo@2x.png',
      'a @ b.com',
      'price @ 12.50',
      'foo@bar',
      'at@.com',
    ],
  },
  phone: {
    found: [
      'call «+1 415 555 2671» now',
      'call «+1-415-555-2671».',
      '«(415) 555-2671»',
      '«415-555-2671» or «415.555.2671»',
      '«1-800-555-0199»',
      'ring «+49 30 1234567»',
      '«+49 (0)30 1234567»',
      '«+44 20 7946 0958», please',
      '«+4915112345678»',
      '«0049 30 1234567»',
      '«020 7946 0958»',
      '«0171/1234567»',
      'Tel.: «5551234567»',
      'phone number is «4155552671»',
      'Fax: «555-0134»',
      '«+33 1 23 45 67 89»',
    ],
    left: [
      'order 4711-2026-000123',
      'order number 5551234567',
      '2026-11-02',
      '02.11.2026 at 09:30',
      '2026-11-02T09:30:00+01:00',
      '550e8400-e29b-41d4-a716-446655440000',
      'version 10.4.2.1',
      '1700000000000',
      '1,234,567.89 EUR',
      '+12.50 %',
      '4111 1111 1111 1111',
      '192.168.100.200',
      'deadbeef0123456789',
      'ISBN 978-3-16-148410-0',
      '123-45-6789',
    ],
  },
  credit_card: {
    found: [
      'card «4111 1111 1111 1111» exp 12/27',
      '«4111111111111111»',
      '«4111-1111-1111-1111»',
      'amex «3782 822463 10005»',
      '«5555555555554444», «378282246310005»',
      '«2223003122003222»',
      '«6011111111111117»',
      '«3530111333300000»',
      '«30569309025904»',
      'no 12 «4242 4242 4242 4242».',
    ],
    left: [
      '4111 1111 1111 1112',
      '4111111111111112',
      'order 1234567890123456',
      '1700000000000',
      '1700000000000000',
      '41111111111111110',
      '4111111111111111.00',
      'x4111111111111111',
      '4111-1111-1111-1111-9999-0000',
      '4111 11 11 1111111 1',
      '550e8400-e29b-41d4-a716-446655440000',
      '0xdeadbeef41111111',
      '4006381333931',
      '2026-11-02 09:30:00',
    ],
  },
  ssn: {
    found: [
      'ssn «123-45-6789».',
      '«219 09 9999»',
      'SSN: «123456789»',
      'social security number «123456789»',
    ],
    left: [
      '000-12-3456',
      '666-12-3456',
      '912-34-5678',
      '123-00-4567',
      '123-45-0000',
      '123456789',
      '123-45 6789',
      '1123-45-6789',
      '123-45-67890',
      'part 88-123-45-6789',
      '2026-11-02',
      '+1 415 555 2671',
    ],
  },
  iban: {
    found: [
      'to «DE89370400440532013000» please',
      'to «DE89 3704 0044 0532 0130 00», please',
      '«GB29 NWBK 6016 1331 9268 19»',
      '«fr1420041010050500013m02606»',
      '«NO9386011117947»',
    ],
    left: [
      'DE89370400440532013001',
      'DE8937040044053201300',
      'DE893704004405320130000',
      'XX89370400440532013000',
      'AB12CD34EF56',
      'order DE12 of 2026',
      '550e8400-e29b-41d4-a716-446655440000',
    ],
  },
  ip: {
    found: [
      'from «192.168.0.1».',
      '«10.0.0.0»/8',
      'http://«127.0.0.1»:8000/x',
      '«10.0.0.1»-«10.0.0.9»',
      '[«2001:db8::1»]:443',
      'host «fe80::1ff:fe23:4567:890a», up',
      '«::1»',
      '«2001:0db8:85a3:0000:0000:8a2e:0370:7334»',
      '«::ffff:10.0.0.1»',
    ],
    left: [
      '256.1.1.1',
      '1.2.3',
      '1.2.3.4.5',
      'v1.2.3.4',
      'version 10.4.2.1',
      '1.2.3.4-beta',
      'std::vector and Bad::Face',
      '12:30:45',
      '00:1a:2b:3c:4d:5e',
      'a::b',
      '2026-11-02T09:30:00Z',
      '::',
      '12.50.10',
    ],
  },
  api_key: {
    found: [
      'key «sk-proj-abcDEF0123456789abcd» here',
      '«sk-ant-api03-abcdefghij0123456789»',
      '«ghp_0123456789abcdefghijABCDEFGHIJ012345»',
      '«xoxb-1234567890-abcdefghij»',
      '«AKIAIOSFODNN7EXAMPLE»',
      '«ops_0123456789abcdefghij»',
      '«svc_live_0123456789abcdef»',
      '«whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw»',
      '«AIzaSyA1234567890abcdefghijklmnopqrstuv»',
      'Authorization: Bearer «eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.abcdefghij123»',
      'API_KEY="«9f8e7d6c5b4a39281706f5e4»"',
      'password: «Tr0ub4dor&3xyz!»',
      'password: «hunter2»',
      'password: «hunter22» and user: ann',
      'Password: «correct-horse-battery»',
      'the password is «Tr0ub4dor&3»',
      'password was «S3cret9», now it is not',
      'pwd=«1234»',
      'DB_PASSWORD=«swordfish»',
      'passphrase: "«correct horse battery»"',
      '{"password": "«hunter»"}',
      '{"password": "«p@ss»", "user": "ann"}',
      'api_key=«abc12345»',
      'apiKey: «9f8e7d6c»',
      'the API key is «k3y-of-9-parts»',
      'client_secret=«q1w2e3r4»',
      'https://x.example/?token=«t0k3nt0k3n»',
      '«-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/=\n-----END RSA PRIVATE KEY-----»\nend',
    ],
    left: [
      'task-0123456789abcdefghij',
      'sk-circle-fade-dot-wide-class',
      'token: please-enter-your-token',
      'the secret is out there somewhere',
      'password: required',
      'Password: please enter at least 8 characters',
      'password: string',
      '"password": "string"',
      'password: "Your password"',
      'password is required, and the password is case-sensitive',
      'the password was changed on 2026-11-02',
      'last changed password: 2026-11-02',
      'password: ********',
      'password=$DB_PASSWORD password={password} password=<password>',
      'password: config.database.password',
      'forgot password? passwords: 12 of them',
      'password: please-enter-your-password',
      'max tokens: 4096, token: 4096, tokens=128000',
      'token expires: 2026-11-02T09:30',
      'the secret is to begin early',
      'api_key: string',
      'secret: undefined',
      'key=order-2026-11-02',
      '550e8400-e29b-41d4-a716-446655440000',
      'sha 9f8e7d6c5b4a39281706f5e49f8e7d6c5b4a3928',
      'ops_team and svc_live',
      '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
    ],
  },
};

const only = (name: DetectorName) => compileRedaction({ detectors: [name], patterns: [] })?.();
const all = () => compileRedaction({ detectors: [...detectorNames], patterns: [] })?.();

describe.each(detectorNames)('%s', (name) => {
  test.each(table[name].found)('is found in %j', (marked) => {
    const text = marked.replace(/[«»]/g, '');
    expect(only(name)?.redact(text)).toBe(marked.replace(/«[^»]*»/g, `[REDACTED:${name}]`));
  });

  test.each(table[name].left)('is not found in %j', (text) => {
    expect(only(name)?.redact(text)).toBe(text);
  });

  test('leaves redacted text unchanged', () => {
    for (const marked of detectorNames.flatMap((each) => table[each].found)) {
      const once = all()?.redact(marked.replace(/[«»]/g, '')) ?? '';
      expect(all()?.redact(once)).toBe(once);
    }
  });
});

/** Texts that make a naive pattern scan the same part repeatedly. */
const hostile = [
  '1', '1 ', '1-', '1.', '@', 'a@', 'a.', '%40', '+1 ', '00 ', '0', '030 12 ', '(2', '555-555-', 'a:', ':', 'ab', ' ',
  '\u00e9', 'DE89 ', 'DE893704004405320130', 'fax ', 'ssn 1', 'sk-', 'token=', 'secret: aaaaaaaaaaaaaa1', 'Bearer a',
  'password', 'password: ', 'password="', 'password: a-', 'password is ', 'pwd=abcdef ', 'password:a.', 'password: aa',
  'eyJaaaaaaaa-', 'eyJaaaaaaaa.', 'SG.aaaaaaaaaaaaaaaaaaaa-', '-----BEGIN PRIVATE KEY-----', '-', 'v1.2.3.4 ',
]; // prettier-ignore

test('every generated API key is detected', () => {
  for (let i = 0; i < 1_000; i += 1) {
    const { secret } = newApiKeySecret();
    expect(only('api_key')?.redact(`use ${secret}.`)).toBe('use [REDACTED:api_key].');
  }
});

soakDescribe('a hostile text', () => {
  test.each(hostile)('of %j takes linear time', (unit) => {
    const redacting = (length: number) => {
      const text = unit.repeat(Math.ceil(length / unit.length));
      return () => all()?.redact(text);
    };
    expect(growth(redacting, 100_000)).toBeLessThan(3);
  });
});
