/** The public parts of bindings, by the binding that `docs/writing-a-binding.md` writes. */
import { createAuth } from 'authkernel'
import { bindingConfig, testBinding } from 'authkernel/testing'
import { expect, it } from 'vitest'
import * as toolkit from 'authkernel/bindings/toolkit'
import { AcornAuth, type AcornContext, type AcornApi, acornBinding } from './_acorn.ts'
import type { TestServer } from './_http.ts'
import { formOf, serveWeb, withCookies } from './_web.ts'

testBinding({
  name: 'acorn, which a stranger wrote',
  start: (more) => serveAcorn(createAuth(bindingConfig(more)).use(acornBinding()).acorn),
})
testBinding({ name: 'acorn, options by a function of the context', start: (more) => serveAcorn(AcornAuth(() => bindingConfig(more))) })

function serveAcorn(acorn: AcornApi): Promise<TestServer> {
  return serveWeb(async (request, ip) => {
    const context: AcornContext = { request, ip, headers: new Headers(), state: {} }
    const answer = async (): Promise<Response> => {
      switch (new URL(request.url).pathname) {
        case '/page':
          await acorn.middleware(context)
          return Response.json(context.state.session)
        case '/guarded':
          return (await acorn.requireSession()(context)) ?? Response.json(context.state.session)
        case '/login':
          return acorn.signIn(context, 'credentials', { fields: await formOf(request), redirectTo: '/in' })
        case '/logout':
          return acorn.signOut(context, { redirectTo: '/out' })
        default:
          return (await acorn.handler(context)) ?? new Response('the host', { status: 404 })
      }
    }
    return withCookies(await answer(), context.headers.getSetCookie())
  })
}

it('the session after a sign-in and a sign-out in the same event is what is true then, and the sign-out stays one', async () => {
  const { acorn } = createAuth(bindingConfig({ session: { updateAge: 0 } })).use(acornBinding())
  const contextOf = (cookie: string): AcornContext => {
    const headers = { origin: 'http://localhost', cookie }
    return { request: new Request('http://localhost/', { method: 'POST', headers }), ip: '127.0.0.1', headers: new Headers(), state: {} }
  }
  const context = contextOf('')
  expect(await acorn.session(context)).toBeNull()
  const answer = await acorn.signIn(context, 'credentials', { fields: { username: 'ada', password: 'right' } })
  expect(await acorn.session(context)).toMatchObject({ user: { name: 'Ada' } })
  const later = contextOf(
    toolkit
      .cookiesOf(answer.headers)
      .map(({ name, value }) => `${name}=${value}`)
      .join('; '),
  )
  expect(await acorn.session(later)).toMatchObject({ user: { name: 'Ada' } })
  later.headers.delete('set-cookie')
  await acorn.signOut(later)
  expect([await acorn.session(later), later.headers.getSetCookie()]).toEqual([null, []])
})

it('cookiesOf reads what the kernel writes', () => {
  const expires = new Date(Math.ceil(Date.now() / 1_000) * 1_000 + 86_400_000)
  const headers = new Headers()
  headers.append(
    'set-cookie',
    `a=x%20y; Max-Age=60; Domain=app.example; Path=/in; Expires=${expires.toUTCString()}; HttpOnly; Secure; SameSite=None`,
  )
  headers.append('set-cookie', 'b=')
  expect(toolkit.cookiesOf(headers)).toEqual([
    {
      name: 'a',
      value: 'x%20y',
      options: {
        path: '/in',
        maxAge: 60,
        domain: 'app.example',
        expires,
        sameSite: 'none',
        httpOnly: true,
        secure: true,
        partitioned: false,
      },
    },
    { name: 'b', value: '', options: { path: '/', httpOnly: false, secure: false, partitioned: false } },
  ])
})

it('readForm takes the words of a sign-in form out and leaves the fields', () => {
  const file = new File(['x'], 'x.txt')
  expect(
    toolkit.readForm(
      Object.entries({ providerId: 'acme', redirectTo: '/in', redirect: 'false', 'authorizationParams-prompt': 'login', a: '1', file }),
    ),
  ).toEqual({
    provider: 'acme',
    redirect: false,
    options: { redirectTo: '/in', fields: { a: '1' }, authorizationParams: { prompt: 'login' } },
  })
  expect(toolkit.readForm([])).toEqual({
    provider: undefined,
    redirect: true,
    options: { redirectTo: undefined, fields: {}, authorizationParams: {} },
  })
})

it('mountedAt counts the segments of a pattern, and the options win', () => {
  expect([
    toolkit.mountedAt('/api/auth/*', '/api/auth/session', '/auth'),
    toolkit.mountedAt('/t/:tenant/auth/**', '/t/acme/auth/session', '/auth'),
    toolkit.mountedAt('/api/auth/:rest{.+}', '/api/auth/session', '/auth'),
    toolkit.mountedAt('/api/*', '/api/auth/session', '/api/auth'),
    toolkit.mountedAt('/*', '/auth/session', '/elsewhere'),
    toolkit.mountedAt('/a/b/c/*', '/a', '/auth'),
    toolkit.mountedAt(undefined, '/a', '/auth'),
  ]).toEqual(['/api/auth', '/t/acme/auth', '/api/auth', undefined, undefined, undefined, undefined])
})
