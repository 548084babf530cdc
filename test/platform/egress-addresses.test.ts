import { describe, expect, it } from '@jest/globals';
import { createAddressPolicy } from '#shared/platform/egress/addresses.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';

/** Addresses that a resolver may return, and whether connections to them are allowed when only the internet is. */
const addresses: [address: string, open: boolean, what: string][] = [
  ['8.8.8.8', true, 'public'],
  ['1.1.1.1', true, 'public'],
  ['93.184.216.34', true, 'public'],
  ['172.15.255.255', true, 'just below 172.16/12'],
  ['172.32.0.0', true, 'just above 172.16/12'],
  ['100.63.255.255', true, 'just below the carrier range'],
  ['168.63.129.15', true, 'beside the Azure host channel'],
  ['223.255.255.255', true, 'last before multicast'],
  ['0.0.0.0', false, 'this host'],
  ['0.1.2.3', false, 'this network'],
  ['10.0.0.1', false, 'private'],
  ['10.255.255.255', false, 'private'],
  ['100.64.0.1', false, 'carrier grade NAT'],
  ['100.100.100.200', false, 'Alibaba metadata'],
  ['127.0.0.1', false, 'loopback'],
  ['127.255.255.254', false, 'loopback'],
  ['168.63.129.16', false, 'Azure host channel'],
  ['169.254.169.254', false, 'metadata'],
  ['169.254.170.2', false, 'container metadata'],
  ['172.16.0.1', false, 'private'],
  ['172.31.255.255', false, 'private'],
  ['192.0.0.1', false, 'protocol assignments'],
  ['192.0.2.1', false, 'documentation'],
  ['192.88.99.1', false, '6to4 relay'],
  ['192.168.1.1', false, 'private'],
  ['198.18.0.1', false, 'benchmarking'],
  ['198.51.100.1', false, 'documentation'],
  ['203.0.113.1', false, 'documentation'],
  ['224.0.0.1', false, 'multicast'],
  ['239.255.255.255', false, 'multicast'],
  ['240.0.0.1', false, 'reserved'],
  ['255.255.255.255', false, 'broadcast'],
  ['2606:4700:4700::1111', true, 'public'],
  ['2a00:1450:4001:830::200e', true, 'public'],
  ['::', false, 'unspecified'],
  ['::1', false, 'loopback'],
  ['0:0:0:0:0:0:0:1', false, 'loopback, spelt out'],
  ['::ffff:8.8.8.8', true, 'mapped public'],
  ['::ffff:127.0.0.1', false, 'mapped loopback'],
  ['::ffff:7f00:1', false, 'mapped loopback in hex'],
  ['::ffff:a9fe:a9fe', false, 'mapped metadata'],
  ['::127.0.0.1', false, 'compatible form'],
  ['::ffff:0:127.0.0.1', false, 'translated form'],
  ['64:ff9b::8.8.8.8', true, 'NAT64 to a public address'],
  ['64:ff9b::127.0.0.1', false, 'NAT64 to loopback'],
  ['64:ff9b::a9fe:a9fe', false, 'NAT64 to metadata'],
  ['64:ff9b::10.0.0.1', false, 'NAT64 to private'],
  ['64:ff9b:1::8.8.8.8', false, 'local NAT64'],
  ['2002:0808:0808::1', true, '6to4 of a public address'],
  ['2002:7f00:0001::1', false, '6to4 of loopback'],
  ['2002:c0a8:0101::', false, '6to4 of private'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', false, 'Teredo'],
  ['2001:db8::1', false, 'documentation'],
  ['3fff::1', false, 'documentation'],
  ['100::1', false, 'discard'],
  ['4000::1', false, 'outside global unicast'],
  ['5f00::1', false, 'segment routing'],
  ['fc00::1', false, 'unique local'],
  ['fd00:ec2::254', false, 'metadata'],
  ['fe80::1', false, 'link local'],
  ['fe80::1%eth0', false, 'link local with zone'],
  ['fec0::1', false, 'site local'],
  ['ff02::1', false, 'multicast'],
  ['::ffff:0.0.0.0', false, 'mapped this host'],
  ['::ffff:100.64.0.1', false, 'mapped carrier grade NAT'],
  ['::ffff:168.63.129.16', false, 'mapped Azure host channel'],
  ['64:ff9b::100.64.0.1', false, 'NAT64 to carrier grade NAT'],
  ['64:ff9b::168.63.129.16', false, 'NAT64 to the Azure host channel'],
  ['64:ff9b:0:0:1::8.8.8.8', false, 'beside the NAT64 prefix'],
  ['2002:a9fe:a9fe::1', false, '6to4 of metadata'],
  ['2002:a83f:8110::1', false, '6to4 of the Azure host channel'],
  ['2001:10::1', false, 'ORCHID'],
  ['2001:20::1', false, 'ORCHIDv2'],
  ['fd20:ce::254', false, 'metadata'],
  ['fdff:ffff:ffff::1', false, 'unique local'],
  ['febf::1', false, 'last of link local'],
  ['127.0.0.1/8', false, 'not an address'],
  ['[::1]', false, 'not an address'],
  [' 8.8.8.8', false, 'not an address'],
  ['', false, 'nothing'],
  ['localhost', false, 'not an address'],
  ['0x7f.0.0.1', false, 'not a canonical spelling'],
  ['127.1', false, 'not a canonical spelling'],
  ['2130706433', false, 'not a canonical spelling'],
];

/** Spellings of internal addresses in URLs. */
const hosts: string[] = [
  '127.0.0.1',
  '127.1',
  '127.0.1',
  '127.0.0.1.',
  '0',
  '0.0.0.0',
  '0x7f.1',
  '0x7f000001',
  '0X7F.0.0.1',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '0177.0.0.01',
  '127.0.0.0x1',
  '%31%32%37.0.0.1',
  '１２７.０.０.１',
  '①②⑦.0.0.1',
  '127。0。0。1',
  '10.1',
  '192.168.257',
  '3232235777',
  '0xa9fea9fe',
  '2852039166',
  '169.254.169.254',
  '168.63.129.16',
  '0x7f.0x0.0x0.0x1',
  '127.00000.00.1',
  '0xA9.0xFEA9FE',
  '169.254.43518',
  '100.64.1',
  '127.0.0.1:22',
  '127.1:65535',
  '2130706433:0',
  '[::1]:6379',
  '[::ffff:127.0.0.1]:443',
  '[0000::0001]',
  '[::FFFF:7F00:0001]',
  '[::7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::]',
  '[fd20:ce::254]',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fd00:ec2::254]',
];

describe('the address policy', () => {
  const open = createAddressPolicy([]);

  it.each(addresses)('%s: allowed is %s (%s)', (address, expected) => {
    expect(open(address)).toBe(expected);
  });

  it('allows exactly the listed addresses, in every notation', () => {
    const policy = createAddressPolicy([
      '127.0.0.0/8',
      '10.1.2.3',
      'fd00:1::/32',
      '::ffff:192.168.0.0/112',
    ]);
    const opened = [
      '127.0.0.1',
      '127.9.9.9',
      '::ffff:127.0.0.1',
      '10.1.2.3',
      'fd00:1::5',
      '192.168.7.7',
      '8.8.8.8',
    ];
    const closed = [
      '10.1.2.4',
      '::1',
      'fd00:2::5',
      '172.16.0.1',
      '64:ff9b::127.0.0.1',
      '2002:7f00:1::',
    ];
    expect(opened.filter((address) => !policy(address))).toEqual([]);
    expect(closed.filter(policy)).toEqual([]);
  });
});

describe('URLs with internal hosts', () => {
  it.each(hosts)('http://%s/ is refused before connecting', async (host) => {
    const egress = createEgress({ allow: [] });
    try {
      await expect(egress.request(`http://${host}/`)).rejects.toMatchObject({
        name: 'EgressError',
        code: 'refused',
      });
      await expect(egress.fetch(`http://${host}/`)).rejects.toMatchObject({
        name: 'EgressError',
        code: 'refused',
      });
    } finally {
      await egress.close();
    }
  });

  // Whether these resolve depends on the machine's resolver; either way, they must not reach internal addresses.
  it.each(['localhost', 'LOCALHOST', 'localhost.', 'ⓛocalhost', 'x.localhost'])(
    'http://%s/ fails',
    async (host) => {
      const egress = createEgress({ allow: [] });
      try {
        const code = expect.stringMatching(/^(refused|unreachable)$/);
        await expect(egress.request(`http://${host}/`)).rejects.toMatchObject({
          name: 'EgressError',
          code,
        });
      } finally {
        await egress.close();
      }
    },
  );
});
