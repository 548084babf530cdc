import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { SignatureError, signInboundWebhook, verifyWebhook } from '#client/index.ts';

// Compared with Node's HMAC, which the client does not use.
const secret = 'whsec_5b1f0e';
const now = 1_790_000_000;
const body = JSON.stringify({ id: 'evt_1', type: 'ping', created_at: 'x', data: { name: 'Zoë' } });
const mac = (time: number | string, text: string | Buffer, key = secret): string =>
  createHmac('sha256', key).update(`${time}.`).update(text).digest('hex');
const signed = (time: number, text = body): string => `t=${time},v1=${mac(time, text)}`;

describe('a delivery of an outbound webhook', () => {
  test('is accepted as signed, as text and as bytes', async () => {
    const expected = { id: 'evt_1', type: 'ping', data: { name: 'Zoë' } };
    const delivery = { secret, signature: signed(now), now };
    expect(await verifyWebhook({ ...delivery, body })).toMatchObject(expected);
    expect(await verifyWebhook({ ...delivery, body: Buffer.from(body) })).toMatchObject(expected);
  });

  test('is accepted if either of two signatures is correct', async () => {
    const right = `v1=${mac(now, body)}`;
    const other = `v1=${mac(now, body, 'whsec_other')}`;
    for (const signature of [`t=${now},${right},${other}`, `t=${now},${other},${right}`]) {
      expect(await verifyWebhook({ secret, signature, body, now })).toMatchObject({ id: 'evt_1' });
    }
  });

  test.each([0, 300, -300])('is accepted %d s from its time', async (off) => {
    const delivery = { secret, signature: signed(now), body, now: now + off };
    expect(await verifyWebhook(delivery)).toMatchObject({ id: 'evt_1' });
  });

  test.each([301, -301, Number.NaN])('is refused %d s from its time', async (off) => {
    const delivery = { secret, signature: signed(now), body, now: now + off };
    await expect(verifyWebhook(delivery)).rejects.toThrow(SignatureError);
  });

  test('is refused if any bit of its body or signature changes', async () => {
    const bytes = Buffer.from(body);
    for (let round = 0; round < 200; round += 1) {
      const at = randomBytes(2).readUInt16BE() % (bytes.length * 8);
      const changed = Buffer.from(bytes);
      changed[at >> 3]! ^= 1 << (at & 7);
      const delivery = { secret, signature: signed(now), body: changed, now };
      await expect(verifyWebhook(delivery)).rejects.toThrow('does not fit');
    }
    const hex = mac(now, body);
    for (let at = 0; at < hex.length; at += 1) {
      const wrong = hex.slice(0, at) + (hex[at] === '0' ? '1' : '0') + hex.slice(at + 1);
      const delivery = { secret, signature: `t=${now},v1=${wrong}`, body, now };
      await expect(verifyWebhook(delivery)).rejects.toThrow('does not fit');
    }
  });

  test.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['no time', `v1=${mac(now, body)}`],
    ['no signature', `t=${now}`],
    ['another scheme only', `t=${now},v0=${mac(now, body)}`],
    ['an empty signature', `t=${now},v1=`],
    ['a short signature', `t=${now},v1=${mac(now, body).slice(2)}`],
    ['capital letters', `t=${now},v1=${mac(now, body).toUpperCase()}`],
    ['two times', `t=${now},t=${now + 1},v1=${mac(now, body)}`],
    ['a time that is none', `t=1e9,v1=${mac('1e9', body)}`],
    ['a time before all times', `t=-1,v1=${mac('-1', body)}`],
  ])('is refused if the signature has %s', async (_name, signature) => {
    await expect(verifyWebhook({ secret, signature, body, now })).rejects.toThrow(SignatureError);
  });

  test('is refused with another secret; an empty secret throws', async () => {
    const delivery = { signature: signed(now), body, now };
    await expect(verifyWebhook({ ...delivery, secret: 'whsec_x' })).rejects.toThrow('not fit');
    await expect(verifyWebhook({ ...delivery, secret: '' })).rejects.toThrow(TypeError);
  });

  test('is refused when it is signed but not JSON', async () => {
    const delivery = { secret, signature: signed(now, 'hello'), body: 'hello', now };
    await expect(verifyWebhook(delivery)).rejects.toThrow('not JSON');
  });
});

describe('the headers of an inbound event', () => {
  test('match those that the service computes', async () => {
    const headers = await signInboundWebhook({ secret: 'c0ffee', body, timestamp: now });
    expect(headers).toEqual({
      'X-Service-Timestamp': String(now),
      'X-Service-Signature': `sha256=${mac(now, body, 'c0ffee')}`,
    });
  });

  test('have the time in whole seconds', async () => {
    const headers = await signInboundWebhook({ secret: 'c0ffee', body: '' });
    expect(headers['X-Service-Timestamp']).toMatch(/^\d{10}$/);
  });
});
