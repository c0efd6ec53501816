/** What limits count addresses by. */
import { describe, expect, it } from 'vitest'
import { expandAddress, networksOf } from 'authkernel/kernel'

describe('networks', () => {
  it.each([
    ['10.1.2.3', '10.1.2.3'],
    ['10.1.2.3:4711', '10.1.2.3'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::ffff:a01:203', '10.1.2.3'],
    ['0:0:0:0:0:FFFF:10.1.2.3', '10.1.2.3'],
    ['2001:db8::1', '2001:db8:0:0::/64 2001:db8:0::/48'],
    ['2001:0DB8:0000:0000:ffff::', '2001:db8:0:0::/64 2001:db8:0::/48'],
    ['[2001:db8::1]:4711', '2001:db8:0:0::/64 2001:db8:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64 fe80:0:0::/48'],
    ['::1', '0:0:0:0::/64 0:0:0::/48'],
    ['', 'unknown'],
    ['unix:/run/app.sock', 'unknown'],
    [undefined, 'unknown'],
  ])('%s counts as %s', (address, keys) =>
    expect(
      networksOf(address)
        .map(({ key }) => key)
        .join(' '),
    ).toBe(keys),
  )

  it('a /48 has eight times the budget of a /64', () => {
    expect(networksOf('2001:db8::1').map(({ scale }) => scale)).toEqual([1, 8])
  })

  it('an address has eight groups in any spelling; what is none has no groups', () => {
    expect(expandAddress('1:2::7:8')).toEqual([1, 2, 0, 0, 0, 0, 7, 8])
    expect(expandAddress('::')).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
    for (const none of ['', '10.0.0.1', '1:2', 'a.example', ':::', '1:2:3:4:5:6:7:8:9']) expect(expandAddress(none)).toBeUndefined()
  })
})
