/** From a path to a route (rows 1 to 6, D23). */
import { describe, expect, it } from 'vitest'
import { createRoutes, pathBelow } from '../../src/router.ts'

describe('pathBelow', () => {
  it.each([
    ['/auth', '/auth/session', '/session'],
    ['/auth', '/auth', '/'],
    ['/auth', '/auth/', '/'],
    ['/auth', '/auth//signin///x/', '/signin/x'],
    ['/auth', '/authors', undefined],
    ['/auth', '/Auth/session', undefined],
    ['/auth', '/', undefined],
    ['/', '/session', '/session'],
    ['/a.b', '/aXb/session', undefined],
    ['/auth', '/auth/signin/undefined', '/signin'],
    ['/auth', '/auth/undefined/x', '/undefined/x'],
    ['/api/auth', '/api/auth/session', '/session'],
  ])('base %s and path %s: %j', (base, path, expected) => expect(pathBelow(base, path)).toBe(expected))
})

describe('createRoutes', () => {
  const handler = () => new Response()
  const own = (method: 'GET' | 'POST', path: `/${string}`, owner = 'p') => ({ value: { method, path, handler }, owner })

  it('finds by method and path, with decoded parameters', () => {
    const routes = createRoutes([own('GET', '/a/:id'), own('POST', '/b')])
    expect(routes.find('GET', '/a/x%20y')).toMatchObject({ params: { id: 'x y' }, route: { path: '/a/:id' } })
    expect(routes.find('GET', '/a/%E0%A4%A')).toMatchObject({ params: { id: '%E0%A4%A' } })
    expect(routes.find('GET', '/b')).toBe('wrong-method')
    expect(routes.find('POST', '/a/x')).toBe('wrong-method')
    expect(routes.find('GET', '/c')).toBeUndefined()
    expect(routes.find('GET', '/a/x/y')).toBeUndefined()
  })

  it.each(['/__proto__', '/constructor', '/a/__proto__/x', '/hasOwnProperty'])('%s finds nothing', (path) => {
    expect(createRoutes([own('GET', '/a')]).find('GET', path)).toBeUndefined()
  })

  it('the same route object twice is one; another of its kind is refused', () => {
    const route = own('GET', '/a')
    expect(() => createRoutes([route, { ...route, owner: 'q' }])).not.toThrow()
    expect(() => createRoutes([route, own('GET', '/a', 'q')])).toThrow('GET /a is registered by plugin "p" and by plugin "q"')
  })
})
