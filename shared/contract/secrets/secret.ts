import { z } from 'zod';
import { canonicalHost, MIN_SECRET_LENGTH, SECRET_NAME } from '#shared/values/secrets.ts';
import { timestamp } from '#shared/contract/common.ts';
import { etag } from '#shared/contract/if-match.ts';

const MAX_VALUE = 8_000;
const MAX_HOSTS = 20;

export const secretName = z
  .string()
  .regex(
    SECRET_NAME,
    "must start with a capital letter and contain only A-Z, 0-9 and '_', at most 64",
  )
  .meta({ description: 'Workflows refer to it as `{secrets.NAME}`', examples: ['CRM_API_KEY'] });

const allowedHost = z
  .string()
  .max(300)
  // A check that replaces the text, as for times.
  .check((given) => {
    const host = canonicalHost(given.value);
    if (host !== undefined) {
      given.value = host;
      return;
    }
    const message =
      'must be a host without scheme or path, such as api.example.com, *.example.com or host:8443';
    given.issues.push({ code: 'custom', message, input: given.value, continue: false });
  })
  .meta({
    description:
      'A host, with `*.` any host below it. Without a port: 443 and 80. Only requests to these hosts get the value',
    examples: ['api.example.com'],
  });

/** Each host once. */
export const allowedHosts = z
  .array(allowedHost)
  .min(1)
  .max(MAX_HOSTS)
  // A check that replaces the list, as for times.
  .check((given) => {
    given.value = [...new Set(given.value)];
  });

export const secretInput = z
  .strictObject({
    value: z
      .string()
      .min(MIN_SECRET_LENGTH)
      .max(MAX_VALUE)
      .refine((text) => !text.includes('\0') && text.isWellFormed(), 'must be valid text')
      .refine(
        (text) => text.trim().length >= MIN_SECRET_LENGTH,
        `needs ${MIN_SECRET_LENGTH} characters besides spaces`,
      )
      .meta({ description: 'Stored sealed. No response contains it', format: 'password' }),
    allowed_hosts: allowedHosts,
    description: z.string().max(1_000).default(''),
  })
  .meta({
    examples: [{ value: 'demo-value-0123456789', allowed_hosts: ['api.example.com'] }],
  });
export type SecretInput = z.infer<typeof secretInput>;

export const secretSchema = z
  .object({
    name: z.string(),
    allowed_hosts: z.array(z.string()),
    description: z.string(),
    created_at: timestamp,
    updated_at: timestamp,
    last_used_at: timestamp.nullable().meta({
      description: 'When a call last needed it, to the minute',
    }),
    etag,
  })
  .meta({ id: 'Secret' });
export type Secret = z.infer<typeof secretSchema>;
