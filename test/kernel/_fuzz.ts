/** Requests that no client should send, the same ones in every run, and what must be true of every answer. */
import { inspect } from 'node:util'
import { type Auth, type AuthConfig, createAuth } from 'authkernel'
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import passkey from 'authkernel/providers/passkey'
import { LocalOp } from '../rows/_op.ts'
import { baseConfig, Client } from '../_setup.ts'

/** Integers below `max`, the same for the same seed (mulberry32). */
export type Dice = (max: number) => number
export function createDice(seed: number): Dice {
  let state = seed >>> 0
  return (max) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % max
  }
}

export const nasty: readonly string[] = [
  '',
  ' ',
  '0',
  '-1',
  '1e999',
  'null',
  'undefined',
  'true',
  'NaN',
  '__proto__',
  'constructor',
  'toString',
  '[object Object]',
  '%',
  '%00',
  '%E0%A4%A',
  '%0d%0aSet-Cookie: a=b',
  '\r\nSet-Cookie: a=b',
  '\u0000',
  '\u2028',
  '\uD800',
  'é',
  'ＡＢ＠ｃ．ｄ',
  '日本',
  '../../etc/passwd',
  '..%2f..',
  '//evil.example',
  '/\\evil.example',
  'https://evil.example/x',
  'javascript:alert(1)',
  'data:text/html,<script>',
  '<script>alert(1)</script>',
  '"><img src=x onerror=1>',
  "' OR 1=1 --",
  '${7*7}',
  '{{7*7}}',
  'a@b',
  'a@b.example',
  '"a"@b.example',
  'a@b.example,c@d.example',
  'eyJhbGciOiJub25lIn0.e30.',
  'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIn0..AAAA.AAAA.AAAA',
  'a'.repeat(300),
  'a'.repeat(5000),
  '%'.repeat(200),
  ';'.repeat(100),
  '='.repeat(100),
  '{"a":1}',
  '[[[[[[[[[[]]]]]]]]]]',
  '{"__proto__":{"polluted":1}}',
]
export const names: readonly string[] = [
  'csrfToken',
  'callbackUrl',
  'email',
  'token',
  'state',
  'code',
  'iss',
  'error',
  'action',
  'data',
  'username',
  'password',
  'provider',
  'json',
  'redirect',
  '__proto__',
  'constructor',
  'id_token',
  'session_state',
  'type',
]
export const segments: readonly string[] = [
  'signin',
  'signout',
  'callback',
  'session',
  'csrf',
  'providers',
  'error',
  'verify-request',
  'webauthn-options',
  'oidc',
  'oauth',
  'mail',
  'password',
  'passkey',
  'undefined',
  'nobody',
  '',
  '.',
  '..',
  '%2e%2e',
  '%2f',
  '__proto__',
  'constructor',
]
export const cookieKeys: readonly string[] = [
  'session-token',
  'callback-url',
  'csrf-token',
  'pkce.code_verifier',
  'state',
  'nonce',
  'challenge',
  'session-token.0',
  'session-token.1',
]
export const headerNames: readonly string[] = [
  'origin',
  'sec-fetch-site',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-auth-return-redirect',
  'accept-language',
  'authorization',
  'referer',
  'user-agent',
  'accept',
]
export const contentTypes: readonly string[] = [
  'application/x-www-form-urlencoded',
  'application/json',
  'application/json; charset=utf-16',
  'multipart/form-data; boundary=x',
  'text/plain',
  'APPLICATION/JSON',
  '',
]
/** A request before it is one. */
export interface Sketch {
  method: string
  path: string
  query: [string, string][]
  cookies: [string, string][]
  headers: [string, string][]
  type: string
  body: [string, unknown][] | string
}

/** Who is attacked. */
export interface Target {
  auth: Auth
  options: ReturnType<typeof baseConfig>
  own: Client
  csrfToken: string
  /** What no answer and no log may hold. */
  secrets: string[]
  /** Links of flows under way. */
  links: string[]
}

/** A host with everything, two people signed in, and material of flows that are under way. */
export async function createTarget(strategy: 'jwt' | 'database', config: AuthConfig): Promise<Target> {
  const options = baseConfig()
  const op = new LocalOp(options.runtime.now)
  options.runtime.fetch = op.fetch
  const mails: string[] = []
  const sendVerificationRequest = ({ url }: { url: string }): void => void mails.push(url)
  const authorize = ({ password }: Record<string, unknown>) =>
    password === 'canary-password-of-victim' ? { id: 'victim', name: 'Canary Victim', email: 'canary-victim@example.com' } : null
  const data = memoryData()
  const auth = createAuth({
    ...options,
    session: { strategy },
    adapter: memoryAdapter(data),
    experimental: { enableWebAuthn: true },
    throttle: false,
    providers: [
      op.provider('oidc') as never,
      op.provider('oauth') as never,
      { id: 'mail', name: 'Mail', type: 'email', sendVerificationRequest },
      { id: 'password', name: 'Password', type: 'credentials', credentials: { username: {}, password: { type: 'password' } }, authorize },
      passkey(),
    ],
    ...config,
  })
  data.users.set('victim', { id: 'victim', name: 'Canary Victim', email: 'canary-victim@example.com', emailVerified: null })
  const victim = new Client(auth)
  await victim.post('/callback/password', { password: 'canary-password-of-victim' })
  const own = new Client(auth)
  await own.get(op.authorize((await own.post('/signin/oidc')).headers.get('location') ?? ''))
  const pending = op.authorize((await own.post('/signin/oidc')).headers.get('location') ?? '')
  await own.post('/signin/mail', { email: 'own@example.com' })
  await own.get('/webauthn-options/passkey?action=authenticate')
  const csrfToken = await own.csrfToken()
  const secrets = [
    String(options.secret),
    op.clientSecret,
    'canary-password-of-victim',
    'canary-victim@example.com',
    'Canary Victim',
    victim.cookies.get('authkernel.session-token') ?? 'no session of the victim',
    ...[...data.accounts.values()].flatMap(({ access_token: a, refresh_token: r }) => [String(a), String(r)]),
  ]
  return { auth, options, own, csrfToken, secrets, links: [pending, ...mails] }
}

/** A request that means well, to be spoiled. */
function sketch(dice: Dice, { own, csrfToken, links }: Target): Sketch {
  const cookies = [...own.cookies]
  const pick = <T>(list: readonly T[]): T => list[dice(list.length)] as T
  const form = (path: string, fields: [string, unknown][] = []): Sketch => ({
    method: 'POST',
    path,
    query: [],
    cookies,
    headers: [],
    type: contentTypes[0] as string,
    body: [['csrfToken', csrfToken], ...fields],
  })
  const get = (path: string, query: [string, string][] = []): Sketch => ({
    method: 'GET',
    path,
    query,
    cookies,
    headers: [],
    type: '',
    body: '',
  })
  const link = new URL(pick(links))
  const plans: (() => Sketch)[] = [
    () => get(`/auth/${pick(segments)}`),
    () => get(`/auth/${pick(segments)}/${pick(segments)}`),
    () => get(`/${Array.from({ length: dice(5) }, () => pick(segments)).join('/')}`),
    () => get(link.pathname, [...link.searchParams]),
    () => get('/auth/error', [['error', pick(['AccessDenied', 'Verification', ...nasty])]]),
    () =>
      get('/auth/webauthn-options/passkey', [
        ['action', pick(['register', 'authenticate', ...nasty])],
        ['email', pick(nasty)],
      ]),
    () =>
      get('/auth/signin', [
        ['callbackUrl', pick(nasty)],
        ['error', pick(nasty)],
        ['email', pick(nasty)],
      ]),
    () => form('/auth/signin/oidc', [['callbackUrl', pick(nasty)]]),
    () => form(`/auth/signin/${pick(segments)}`),
    () => form('/auth/signin/mail', [['email', pick(nasty)]]),
    () =>
      form('/auth/callback/password', [
        ['username', pick(nasty)],
        ['password', pick(nasty)],
      ]),
    () =>
      form('/auth/callback/passkey', [
        ['action', pick(['register', 'authenticate', ...nasty])],
        ['data', pick(nasty)],
      ]),
    () => form(`/auth/callback/${pick(segments)}`, [...link.searchParams]),
    () => form('/auth/session', [['data', pick(nasty)]]),
    () => form('/auth/signout', [['callbackUrl', pick(nasty)]]),
  ]
  return pick(plans)()
}

function spoil(dice: Dice, request: Sketch): Sketch {
  const pick = <T>(list: readonly T[]): T => list[dice(list.length)] as T
  const spoilt = { ...request, query: [...request.query], cookies: [...request.cookies], headers: [...request.headers] }
  const fields: [string, unknown][] | undefined = typeof spoilt.body === 'string' ? undefined : [...spoilt.body]
  const bend = (value: string): string => {
    const at = dice(value.length + 1)
    return pick([
      () => value.slice(0, at),
      () => value.slice(at),
      () => value + value,
      () => value.slice(0, at) + pick(nasty) + value.slice(at),
      () => pick(nasty),
      () => value.toUpperCase(),
    ])().slice(0, 20_000)
  }
  for (let i = dice(4); i > 0; i--) {
    const cookie = spoilt.cookies.length > 0 ? dice(spoilt.cookies.length) : -1
    const field = fields && fields.length > 0 ? dice(fields.length) : -1
    pick<() => unknown>([
      () => (spoilt.method = pick(['GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])),
      () => (spoilt.path = `${spoilt.path}/${encodeURIComponent(pick(segments))}`),
      () => (spoilt.path = spoilt.path.replace(/\//g, pick(['/', '//', '/./', '%2f']))),
      () => spoilt.query.push([pick(names), pick(nasty)]),
      () => spoilt.query.push(...spoilt.query),
      () => spoilt.headers.push([pick(headerNames), pick(nasty)]),
      () => spoilt.cookies.push([`${pick(['', '__Secure-', '__Host-'])}authkernel.${pick(cookieKeys)}`, pick(nasty)]),
      () => cookie >= 0 && (spoilt.cookies[cookie] = [spoilt.cookies[cookie]?.[0] ?? '', bend(spoilt.cookies[cookie]?.[1] ?? '')]),
      () => cookie >= 0 && (spoilt.cookies[cookie] = [spoilt.cookies[cookie]?.[0] ?? '', pick(spoilt.cookies)[1]]),
      () => cookie >= 0 && spoilt.cookies.splice(cookie, 1),
      () => (spoilt.type = pick(contentTypes)),
      () => fields?.push([pick(names), pick([...nasty, null, 1, true, [], {}, ['a'], { a: { b: [] } }])]),
      () => field >= 0 && fields?.splice(field, 1),
      () => field >= 0 && fields && (fields[field] = [fields[field]?.[0] ?? '', bend(String(fields[field]?.[1]))]),
      () => field >= 0 && fields && fields.push(fields[field] as [string, unknown]),
    ])()
  }
  return fields ? { ...spoilt, body: dice(20) === 0 ? pick(nasty) : fields } : spoilt
}

/** What cannot be sent at all is left out of it. */
function toRequest({ method, path, query, cookies, headers, type, body }: Sketch): Request {
  const url = new URL(`http://localhost:3000${path.startsWith('/') ? path : `/${path}`}`)
  for (const [name, value] of query) url.searchParams.append(name, value)
  const sent = new Headers()
  const put = (name: string, value: string): void => {
    // Header values are bytes without line breaks; a platform lets nothing else through.
    const bytes = value.replace(/[^\t\u0020-\u007E\u0080-\u00FF]/g, '')
    sent.append(name, bytes)
  }
  if (cookies.length > 0) put('cookie', cookies.map(([name, value]) => `${name}=${value}`).join('; '))
  for (const [name, value] of headers) put(name, value)
  if (type !== '') sent.set('content-type', type)
  return new Request(url, { method, headers: sent, ...(method !== 'GET' && method !== 'HEAD' && { body: toBody(type, body) }) })
}

function toBody(type: string, body: Sketch['body']): string {
  if (typeof body === 'string') return body
  if (type.toLowerCase().includes('json')) return JSON.stringify(Object.fromEntries(body))
  return new URLSearchParams(
    body.map(([name, value]): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  ).toString()
}

/** What went wrong, in words that lead back to the request. */
export async function fuzz(strategy: 'jwt' | 'database', seed: number, count: number, config: AuthConfig = {}): Promise<string[]> {
  const target = await createTarget(strategy, config)
  const dice = createDice(seed)
  const before = Object.getOwnPropertyNames(Object.prototype).join()
  const problems: string[] = []
  for (let i = 0; i < count && problems.length < 5; i++) {
    const plan = spoil(dice, sketch(dice, target))
    const problem = await send(target, plan)
    if (problem) problems.push(`seed ${seed}, request ${i}: ${problem}\n${inspect(plan, { depth: 4, maxStringLength: 400 })}`)
  }
  if (Object.getOwnPropertyNames(Object.prototype).join() !== before) problems.push('Object.prototype changed')
  if ((await target.own.get('/providers')).status !== 200) problems.push('the instance does not work any more')
  return problems
}

export async function send({ auth, options, secrets }: Target, plan: Sketch): Promise<string | undefined> {
  const { logger } = options
  logger.errors.length = logger.warnings.length = logger.debugs.length = 0
  const request = toRequest(plan)
  const { pathname, searchParams } = new URL(request.url)
  let response: Response
  try {
    response = await auth.handler(request)
  } catch (error) {
    return `threw ${inspect(error)}`
  }
  const said = `${[...response.headers].join('\n')}\n${await response.text()}`
  // Row 272: this page has this status.
  const configured = /\/error\/*$/.test(pathname) && searchParams.get('error') === 'Configuration'
  if (response.status >= 500 && !configured) return `status ${response.status}, logged ${inspect(logger.errors, { depth: 3 })}`
  const location = response.headers.get('location')
  if (location !== null && !['http://localhost:3000', 'https://op.example'].includes(new URL(location, request.url).origin))
    return `leads to ${location}`
  const sources = [said, inspect([logger.errors, logger.warnings, logger.debugs], { depth: null, showHidden: true, maxStringLength: null })]
  const leaked = secrets.filter((secret) => sources.some((source) => source.includes(secret)))
  if (leaked.length > 0) return `says ${leaked.join(', ')}`
  if ((Object.prototype as { polluted?: unknown }).polluted !== undefined) return 'polluted Object.prototype'
  return undefined
}
