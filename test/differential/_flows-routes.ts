/** Every route with every method, paths that are none, bodies that are none, queries and cookies that are odd. */
import type { Browser } from './_browser.ts'
import type { Flow, Kit } from './_flow.ts'
import { everything, form } from './_hosts.ts'

const actions = ['callback', 'csrf', 'error', 'providers', 'session', 'signin', 'signout', 'verify-request', 'webauthn-options']
const ids = ['acme', 'hub', 'mail', 'credentials', 'nobody', 'undefined']

const flow = (name: string, run: Flow['run'], over: Partial<Flow> = {}): Flow => ({
  name,
  config: (kit: Kit) => everything(kit),
  run,
  ...over,
})

export const routeFlows: Flow[] = [
  ...actions.flatMap((action) => [
    ...['GET', 'HEAD', 'PUT', 'OPTIONS', 'DELETE', 'PATCH'].map((method) =>
      flow(`${method} /${action}`, (b) => sent(b, method, `/${action}`)),
    ),
    flow(`POST /${action} without a body`, (b) => sent(b, 'POST', `/${action}`)),
    flow(`POST /${action} with a token`, async (b) => void (await b.post(`/${action}`))),
    flow(
      `POST /${action} with a token, return-redirect`,
      async (b) => void (await b.post(`/${action}`, {}, { headers: { 'x-auth-return-redirect': '1' } })),
    ),
    flow(`GET /${action}, return-redirect`, (b) => sent(b, 'GET', `/${action}`, { headers: { 'x-auth-return-redirect': '1' } })),
    ...ids.flatMap((id) => [
      flow(`GET /${action}/${id}`, (b) => sent(b, 'GET', `/${action}/${id}`)),
      flow(`POST /${action}/${id} without a token`, (b) => sent(b, 'POST', `/${action}/${id}`, { form: {} })),
    ]),
  ]),
  ...[
    '',
    '/',
    '//',
    '/csrf/',
    '//csrf',
    '/csrf//',
    '/nothing',
    '/session/extra',
    '/a/b/c',
    '/callback/acme/more',
    '/CSRF',
    '/csrf%2f',
    '/signin/acme/',
  ].map((path) => flow(`GET base + "${path}"`, (b) => sent(b, 'GET', path))),
  ...[
    'http://localhost:3000/',
    'http://localhost:3000/authors/csrf',
    'http://localhost:3000/api/auth/csrf',
    'http://localhost:3000/Auth/csrf',
  ].map((url) => flow(`GET ${url}`, (b) => sent(b, 'GET', url))),
  ...bodies(),
  ...queries(),
  ...cookies(),
]

async function sent(browser: Browser, method: string, path: string, options: Parameters<Browser['send']>[2] = {}): Promise<void> {
  await browser.send(method, path, options)
}

function bodies(): Flow[] {
  const config = (kit: Kit): Record<string, unknown> => ({ providers: [form(kit)] })
  const at = '/callback/credentials'
  const good = { username: 'ann', password: 'right' }
  return [
    flow('body: form', async (b) => void (await b.post(at, good)), { config }),
    flow('body: JSON', async (b) => sent(b, 'POST', at, { json: { ...good, csrfToken: await b.csrfToken() } }), { config }),
    flow(
      'body: JSON with a charset',
      async (b) => {
        const body = JSON.stringify({ ...good, csrfToken: await b.csrfToken() })
        await b.send('POST', at, { text: ['application/json; charset=utf-8', body] })
      },
      { config },
    ),
    flow(
      'body: malformed JSON',
      async (b) => {
        await b.csrfToken()
        await b.send('POST', at, { text: ['application/json', '{"a":'] })
      },
      { config },
    ),
    flow('body: empty JSON', async (b) => sent(b, 'POST', at, { text: ['application/json', ''] }), { config }),
    ...['null', '[]', '"text"', '1', 'true', '{}'].map((body) =>
      flow(
        `body: JSON ${body}`,
        async (b) => {
          await b.csrfToken()
          await b.send('POST', at, { text: ['application/json', body] })
        },
        { config },
      ),
    ),
    ...['text/plain', 'multipart/form-data; boundary=x', 'application/xml', 'Application/JSON', 'APPLICATION/X-WWW-FORM-URLENCODED'].map(
      (type) => ({
        ...flow(
          `body: ${type}`,
          async (b) => {
            const token = await b.csrfToken()
            const body = type.includes('JSON')
              ? JSON.stringify({ ...good, csrfToken: token })
              : new URLSearchParams({ ...good, csrfToken: token }).toString()
            await b.send('POST', at, { text: [type, body] })
          },
          { config },
        ),
        // RFC 9110, section 8.3.1: names of media types know no case.
        ...(/[A-Z]/.test(type) && {
          decided: { 1: { hook: 'RFC 9110', ours: { answer: { location: { url: 'http://localhost:3000' } } } } },
        }),
      }),
    ),
    flow(
      'body: repeated keys',
      async (b) => {
        const csrfToken = await b.csrfToken()
        await b.send('POST', at, {
          form: [
            ['csrfToken', csrfToken],
            ['username', 'first'],
            ['username', 'last'],
            ['password', 'right'],
          ],
        })
      },
      { config },
    ),
    flow('body: nested JSON', async (b) => sent(b, 'POST', at, { json: { csrfToken: await b.csrfToken(), password: { right: true } } }), {
      config,
    }),
    flow('body: query and body', async (b) => void (await b.post(`${at}?username=query`, good)), { config }),
  ]
}

function queries(): Flow[] {
  const pages = ['/signin', '/error', '/signout', '/verify-request']
  const codes = [
    'Configuration',
    'AccessDenied',
    'Verification',
    'CredentialsSignin',
    'OAuthAccountNotLinked',
    'Default',
    'Signin',
    'unknown',
    '<script>',
    '',
  ]
  return [
    ...pages.flatMap((page) => codes.map((error) => flow(`GET ${page}?error=${error}`, (b) => sent(b, 'GET', page, { query: { error } })))),
    flow('GET /signin?email', (b) => sent(b, 'GET', '/signin', { query: { email: 'ann@example.com' } })),
    flow('GET /signin?email with markup', (b) => sent(b, 'GET', '/signin', { query: { email: '"><script>' } })),
    ...[
      '/app',
      'http://localhost:3000/app?a=b#c',
      'https://evil.example/',
      '//evil.example',
      '/a b',
      '/ä',
      'http://localhost:3000',
      'http://localhost:3000/',
      '/',
    ].flatMap((callbackUrl) => [
      flow(`GET /signin?callbackUrl=${callbackUrl}`, (b) => sent(b, 'GET', '/signin', { query: { callbackUrl } })),
      flow(`GET /csrf?callbackUrl=${callbackUrl}`, (b) => sent(b, 'GET', '/csrf', { query: { callbackUrl } })),
      flow(`GET /signout?callbackUrl=${callbackUrl}`, (b) => sent(b, 'GET', '/signout', { query: { callbackUrl } })),
      flow(`POST /signout, callbackUrl=${callbackUrl}`, async (b) => void (await b.post('/signout', { callbackUrl }))),
    ]),
  ]
}

function cookies(): Flow[] {
  const with_ = (cookie: string): Parameters<Browser['send']>[2] => ({ headers: { cookie } })
  const hex = 'ab'.repeat(32)
  return [
    ...[
      `authjs.csrf-token=${hex}`,
      `authjs.csrf-token=${hex}|${hex}`,
      `authjs.csrf-token=${hex}%7C${hex}`,
      'authjs.csrf-token=%',
      'authjs.csrf-token=',
      'authjs.csrf-token=a|b|c',
    ].flatMap((cookie) => [
      flow(`GET /csrf with ${cookie.slice(0, 30)}`, (b) => sent(b, 'GET', '/csrf', with_(cookie))),
      flow(`POST /signout with ${cookie.slice(0, 30)}`, (b) => sent(b, 'POST', '/signout', { ...with_(cookie), form: { csrfToken: hex } })),
    ]),
    ...[
      'authjs.callback-url=http%3A%2F%2Flocalhost%3A3000%2Fkept',
      'authjs.callback-url=%2Fkept',
      'authjs.callback-url=https%3A%2F%2Fevil.example',
      'a=b; ; =c; authjs.callback-url=/x',
      'authjs.callback-url="/quoted"',
    ].flatMap((cookie) => [
      flow(`GET /signin with ${cookie}`, (b) => sent(b, 'GET', '/signin', with_(cookie))),
      flow(`GET /csrf with ${cookie}`, (b) => sent(b, 'GET', '/csrf', with_(cookie))),
    ]),
    ...['garbage', '', 'eyJhbGciOiJkaXIifQ..a.b.c', '%E0%A4%A'].map((value) =>
      flow(`GET /session with the token "${value}"`, (b) => sent(b, 'GET', '/session', with_(`authjs.session-token=${value}`))),
    ),
    flow('a CSRF cookie is kept and counts', async (b) => {
      await b.csrfToken()
      await b.csrfToken()
      await b.post('/signout')
      await b.post('/signout', { csrfToken: 'wrong' })
    }),
  ]
}
