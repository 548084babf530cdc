/** Quotes a text as one word of a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The command that sends an event to a webhook. */
export const curlOf = (url: string, body: string): string =>
  [
    `curl -s -X POST ${quoted(url)} \\`,
    `  -H 'content-type: application/json' \\`,
    `  --data-binary ${quoted(body)}`,
  ].join('\n');

/** Like `curlOf`, for a webhook that requires signatures: the key is the last part of the URL. */
export const signedCurlOf = (url: string, body: string): string =>
  [
    `URL=${quoted(url)}`,
    `BODY=${quoted(body)}`,
    'TIMESTAMP=$(date +%s)',
    `SIGNATURE=$(printf '%s.%s' "$TIMESTAMP" "$BODY" | openssl dgst -sha256 -hmac "\${URL##*/}" | sed 's/^.* //')`,
    'curl -s -X POST "$URL" --data-binary "$BODY" \\',
    '  -H "X-Service-Timestamp: $TIMESTAMP" \\',
    '  -H "X-Service-Signature: sha256=$SIGNATURE"',
  ].join('\n');

/** An example event, with the field that identifies events and the keys that the workflow reads. */
export const exampleEvent = (eventIdField: string, keys: readonly string[]): string =>
  JSON.stringify({
    [eventIdField]: 'evt_1',
    ...Object.fromEntries(keys.filter((key) => key !== eventIdField).map((key) => [key, ''])),
  });
