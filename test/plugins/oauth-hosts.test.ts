/** Which hosts are inside the own network (RFC 6890): the ones a foreign document must not point to. */
import { describe, expect, it } from 'vitest'
import { isPrivate, leadsInside } from '../../plugins/sign-in/oauth/hosts.ts'

describe('hosts', () => {
  it.each([
    '10.0.0.1',
    '127.0.0.2',
    '0.0.0.0',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.0.1',
    '100.64.0.1',
    '198.18.0.1',
    '192.0.2.1',
    '224.0.0.1',
    '255.255.255.255',
    '[::]',
    '[::1]',
    '[fe80::1]',
    '[fc00::1]',
    '[fd12:3456::1]',
    '[fec0::1]',
    '[ff02::1]',
    '[::ffff:a00:1]',
    '[::ffff:a9fe:a9fe]',
    '[::a00:1]',
    '[64:ff9b::a00:1]',
    '[2002:a00:1::]',
    'localhost',
    'api.localhost',
    'keycloak',
    'db.internal',
    'metadata.google.internal',
    'printer.local',
    'op.corp',
    'op.internal.',
  ])('%s is private', (host) => {
    expect(isPrivate(host)).toBe(true)
  })
  it.each([
    '8.8.8.8',
    '172.32.0.1',
    '172.15.0.1',
    '100.128.0.1',
    '169.253.0.1',
    '192.169.0.1',
    '[2606:4700::1111]',
    '[::ffff:808:808]',
    '[64:ff9b::808:808]',
    '[2002:808:808::]',
    'op.example',
    'internal.example',
    'local.op.example',
  ])('%s is public', (host) => {
    expect(isPrivate(host)).toBe(false)
  })
  it('other spellings of addresses are the same to a URL', () => {
    for (const text of [
      'http://0xa9fea9fe/',
      'http://2852039166/',
      'http://0251.0376.0251.0376/',
      'http://169.254.43518/',
      'http://[0:0:0:0:0:ffff:169.254.169.254]/',
      'http://LOCALHOST/',
      'http://①②⑦.⓪.⓪.①/',
    ]) {
      expect(isPrivate(new URL(text).hostname), text).toBe(true)
    }
  })
  it('the issuer decides: its own host and loopback among itself are no way inside', () => {
    const inside = (endpoint: string, issuer: string): boolean => leadsInside(new URL(endpoint), new URL(issuer))
    expect(inside('https://10.0.0.1/token', 'https://op.example')).toBe(true)
    expect(inside('https://op.example/token', 'https://op.example')).toBe(false)
    expect(inside('https://tokens.example/token', 'https://op.example')).toBe(false)
    expect(inside('https://10.0.0.1/token', 'https://10.0.0.1:8443')).toBe(false)
    expect(inside('https://10.0.0.2/token', 'https://10.0.0.1')).toBe(true)
    expect(inside('http://127.0.0.1:2/token', 'http://localhost:1')).toBe(false)
    expect(inside('http://127.0.0.1/token', 'https://op.example')).toBe(true)
    expect(inside('https://169.254.169.254/', 'http://127.0.0.1:1')).toBe(true)
  })
})
