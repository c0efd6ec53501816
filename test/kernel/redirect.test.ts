/** The only maker of redirects to targets from outside (rows 70 to 76, D57). */
import { describe, expect, it } from 'vitest'
import { isCallbackUrl, sameOrigin, withParams } from '../../src/http/redirect.ts'
import type { Context } from '../../src/contract/context.ts'
import { resolveRedirect } from '../../src/request/flows.ts'

const origin = 'https://own.example'

describe('sameOrigin', () => {
  it.each([
    ['/inbox?a=1#b', `${origin}/inbox?a=1#b`],
    ['/', `${origin}/`],
    [`${origin}/x`, `${origin}/x`],
    [origin, origin],
    ['//evil.example/x', `${origin}//evil.example/x`],
    ['https://evil.example', origin],
    ['https://own.example.evil.example', origin],
    ['https://own.example:8443', origin],
    ['http://own.example', origin],
    ['javascript:alert(1)', origin],
    ['', origin],
    ['inbox', origin],
    ['https://own.example@evil.example', origin],
    ['https://user@own.example/', origin],
    ['HTTPS://OWN.EXAMPLE/x', `${origin}/x`],
    ['https://own.example:443/x', `${origin}/x`],
  ])('row 70: %j leads to %j', (target, expected) => expect(sameOrigin(target, origin)).toBe(expected))

  it('an allowed origin counts whole, not as a prefix', () => {
    const allowed = ['https://app.example']
    expect(sameOrigin('https://app.example/x', origin, allowed)).toBe('https://app.example/x')
    expect(sameOrigin('https://app.example.evil.example/x', origin, allowed)).toBe(origin)
    expect(sameOrigin('http://app.example/x', origin, allowed)).toBe(origin)
  })
})

describe('isCallbackUrl', () => {
  it.each(['/', '/x', 'https://any.example', 'http://any.example/x', '/ä', `/${'x'.repeat(2047)}`])('%j is', (candidate) =>
    expect(isCallbackUrl(candidate, origin, 2048)).toBe(true),
  )
  it.each([
    '',
    'x',
    '?a',
    '#a',
    '\\',
    '/\\x',
    '/\t',
    '/\n/',
    '/\u007f',
    'mailto:a@b',
    'data:,x',
    'https://',
    'https://u:p@x',
    `/${'x'.repeat(2048)}`,
  ])('%j is not', (candidate) => expect(isCallbackUrl(candidate, origin, 2048)).toBe(false))
  it.each([undefined, null, 1, {}, ['/x'], true])('%j is no text', (candidate) =>
    expect(isCallbackUrl(candidate, origin, 2048)).toBe(false),
  )
})

describe('resolveRedirect', () => {
  const asked = (answer: unknown) => {
    const ctx = { origin, app: { config: {} }, ask: () => answer } as unknown as Context
    return resolveRedirect(ctx, '/x')
  }

  it('row 71: the hook may lead anywhere; a path stays on the origin', async () => {
    expect(await asked('https://other.example/y')).toBe('https://other.example/y')
    expect(await asked('app.example.notes:/done')).toBe('app.example.notes:/done')
    expect(await asked('/here?a=1#b')).toBe('/here?a=1#b')
    for (const away of ['//evil.example', '/\\evil.example', '/\t/evil.example'])
      expect(new URL(await asked(away), origin).origin).toBe(origin)
    expect(await asked('/日本')).toBe('/%E6%97%A5%E6%9C%AC')
    expect(await asked('https://日本.example/日本')).toMatch(/^https:\/\/xn--[a-z0-9-]+\.example\/%E6/)
    expect(await asked(undefined)).toBe(`${origin}/x`)
  })

  it.each([
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:x',
    'file:///etc/passwd',
    'here',
    '',
    'https://x\n',
    null,
    7,
    {},
  ])('row 76: the answer %j is refused', async (answer) => {
    await expect(asked(answer)).rejects.toThrow(TypeError)
  })
})

describe('withParams', () => {
  it.each([
    ['/in', { a: '1' }, '/in?a=1'],
    ['/in?x=y', { a: '1' }, '/in?x=y&a=1'],
    ['/in#form', { a: '1' }, '/in?a=1#form'],
    ['/in?x#form', { a: '1', b: undefined }, '/in?x&a=1#form'],
    ['/in', {}, '/in'],
    ['/in', { a: undefined }, '/in'],
    ['https://a.example', { a: 'ä&=#?\r\n' }, 'https://a.example?a=%C3%A4%26%3D%23%3F%0D%0A'],
  ])('D21: %s with %j is %s', (target, params, expected) => expect(withParams(target, params)).toBe(expected))
})
