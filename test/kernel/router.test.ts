/** From a path to a route (rows 1 to 6, D23). */
import { describe, expect, it } from 'vitest'
import { pathBelow } from '../../src/http/path.ts'
import type { Route, RouteMethod } from '../../src/contract/route.ts'
import { createRoutes } from '../../src/registry/router.ts'

describe('pathBelow', () => {
  it.each([
    ['/auth', '/auth/session', '/session'],
    ['/auth', '/auth', '/'],
    ['/auth', '/auth/', '/'],
    ['/auth', '/auth//signin///x/', '/signin/x'],
    ['/auth', '/auth/%73ignin/%70%61', '/signin/pa'],
    ['/auth', '/auth/a%2fb/%c3%a4', '/a%2Fb/%C3%A4'],
    ['/auth', '/auth/%E0%A4%A', undefined],
    ['/auth', '/auth/%zz', undefined],
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
  const own = (method: RouteMethod, path: `/${string}`, owner = 'p', more: Partial<Route> = {}) => ({
    value: { method, path, handler, ...more },
    owner,
  })

  it('finds by method and path, with decoded parameters', () => {
    const routes = createRoutes([own('GET', '/a/:id'), own('POST', '/b')])
    expect(routes.find('GET', '/a/x%20y')).toMatchObject({ params: { id: 'x y' }, route: { path: '/a/:id' } })
    expect(routes.find('GET', '/a/%E0%A4%A')).toMatchObject({ params: { id: '%E0%A4%A' } })
    expect(routes.find('GET', '/b')).toMatchObject({ allow: ['POST'], info: { plugin: 'p' } })
    expect(routes.find('POST', '/a/x')).toMatchObject({ allow: ['GET'] })
    expect(routes.find('GET', '/c')).toBeUndefined()
    expect(routes.find('GET', '/a/x/y')).toBeUndefined()
  })

  it.each(['/__proto__', '/constructor', '/a/__proto__/x', '/hasOwnProperty'])('%s finds nothing', (path) => {
    expect(createRoutes([own('GET', '/a')]).find('GET', path)).toBeUndefined()
  })

  it('static beats a name, a name beats a wildcard; `*` is one segment, `**:rest` one or more', () => {
    const routes = createRoutes([
      own('GET', '/a/:id'),
      own('GET', '/a/b'),
      own('GET', '/w/*'),
      own('GET', '/r/**:rest'),
      own('DELETE', '/a/:id'),
    ])
    const found = (path: string) => {
      const match = routes.find('GET', path)
      return match?.route && [match.route.path, match.params]
    }
    expect(found('/a/b')).toEqual(['/a/b', {}])
    expect(found('/a/c')).toEqual(['/a/:id', { id: 'c' }])
    expect([found('/w'), found('/w/x'), found('/w/x/y')]).toEqual([undefined, ['/w/*', { '0': 'x' }], undefined])
    expect([found('/r'), found('/r/x'), found('/r/x/y')]).toEqual([
      undefined,
      ['/r/**:rest', { rest: 'x' }],
      ['/r/**:rest', { rest: 'x/y' }],
    ])
    expect(routes.find('DELETE', '/a/c')).toMatchObject({ params: { id: 'c' } })
    expect(routes.find('PUT', '/a/c')).toMatchObject({ allow: ['GET', 'DELETE'] })
  })

  it('what does not lead to the end does not hide what does', () => {
    const paths = ['/a/b/c', '/a/:id/d', '/**:all', '/:x/b/*', '/c/*', '/c/:id', '/d/*', '/d/*/e'] as const
    const routes = createRoutes(paths.map((path) => own('GET', path)))
    const found = (path: string) => {
      const match = routes.find('GET', path)
      return match?.route && [match.route.path, match.params]
    }
    expect(found('/a/b/c')).toEqual(['/a/b/c', {}])
    expect(found('/a/b/d')).toEqual(['/a/:id/d', { id: 'b' }])
    expect(found('/a/b/e')).toEqual(['/:x/b/*', { x: 'a', '0': 'e' }])
    expect(found('/a/b')).toEqual(['/**:all', { all: 'a/b' }])
    expect(found('/a/b/c/d')).toEqual(['/**:all', { all: 'a/b/c/d' }])
    expect(found('/c/x')).toEqual(['/c/:id', { id: 'x' }])
    expect([found('/d/*'), found('/d/:x/e')]).toEqual([
      ['/d/*', { '0': '*' }],
      ['/d/*/e', { '0': ':x' }],
    ])
    expect(createRoutes([own('GET', '/*')]).find('GET', '/')).toBeUndefined()
  })

  it('HEAD is answered by the GET of a plugin, not by one of the kernel or by a step of a sign-in', () => {
    const routes = createRoutes([own('GET', '/a'), own('GET', '/k', 'kernel'), own('GET', '/f', 'p', { flow: 'callback' })])
    expect(routes.find('HEAD', '/a')).toMatchObject({ route: { path: '/a' } })
    expect(routes.find('HEAD', '/k')).toMatchObject({ allow: ['GET'] })
    expect(routes.find('HEAD', '/f')).toMatchObject({ allow: ['GET'] })
  })

  it('routes at the root are apart from those below the base path', () => {
    const routes = createRoutes([own('GET', '/.well-known/jwks.json', 'p', { at: 'root' }), own('GET', '/.well-known/jwks.json', 'q')])
    expect(routes.rootPaths).toEqual(['/.well-known/jwks.json'])
    expect(routes.findRoot('GET', '/.well-known/jwks.json')).toMatchObject({ info: { plugin: 'p', at: 'root' } })
    expect(routes.find('GET', '/.well-known/jwks.json')).toMatchObject({ info: { plugin: 'q', at: 'base' } })
  })

  it.each([
    ['a', {}],
    ['/a/(b)', {}],
    ['/a/:b?', {}],
    ['/a/**', {}],
    ['/**:a/b', {}],
    ['/.well-known/*', { at: 'root' }],
    ['/jwks', { at: 'root' }],
    ['/a', { cors: { origins: 'any' } }],
  ] as const)('the path %s with %j is refused by name', (path, more) => {
    expect(() => createRoutes([own('GET', path as '/', 'p', more)])).toThrow(`The route GET ${path} of plugin "p"`)
  })

  it('the same route object twice is one; another of its kind is refused', () => {
    const route = own('GET', '/a')
    expect(() => createRoutes([route, { ...route, owner: 'q' }])).not.toThrow()
    expect(() => createRoutes([route, own('GET', '/a', 'q')])).toThrow('GET /a is registered by plugin "p" and by plugin "q"')
  })

  it('finds odd paths where a pattern is for them, and nowhere else', () => {
    const list = ['/', '/a', '/a/:id', '/a/:id/c', '/w/*', '/r/**:rest', '/d.t/x-y'].map((path) => own('POST', path as '/'))
    const root = own('GET', '/.well-known/jwks.json', 'p', { at: 'root' })
    const routes = createRoutes([...list, root])
    const found = ['', '/', '//', '/a', '/a/', '/a/b', '/a/b/c', '/w/x', '/r/x', '/r/x/y/z', '/d.t/x-y']
    const unknown = ['/a//b', '/a/b/d', '/a/b/c/d', '/w', '/w//', '/w/x/y', '/r', '/d_t/x-y', '/b', '/constructor']
    const ofRoot = '/.well-known/jwks.json'
    for (const path of found) expect([path, routes.find('GET', path) !== undefined]).toEqual([path, true])
    for (const path of [...unknown, ofRoot]) expect([path, routes.find('GET', path)]).toEqual([path, undefined])
    for (const path of [...found, ...unknown, '/.well-known']) expect([path, routes.findRoot('GET', path)]).toEqual([path, undefined])
    expect([routes.findRoot('GET', ofRoot), routes.findRoot('GET', `${ofRoot}/`)].every((match) => match?.route === root.value)).toBe(true)
  })

  it.each([
    ['/*', ['/x', '/x/', '/a', '/a/', '/A']],
    ['/:name', ['/x', '/x/', '/a', '/a/', '/A']],
    ['/', ['/', '//']],
    ['/a/*', ['/a/b']],
  ] as const)('%s is for %j', (pattern, expected) => {
    const routes = createRoutes([own('GET', pattern)])
    const paths = ['/', '//', '/x', '/x/', '/x/y', '/a', '/a/', '/a/b', '/a/b/c', '/A']
    expect(paths.filter((path) => routes.find('GET', path))).toEqual(expected)
  })
})
