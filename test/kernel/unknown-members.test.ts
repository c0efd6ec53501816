/** Members that nothing knows, at any depth: refused with the one that was meant. */
import { createAuth } from 'authkernel'
import { assertOptions, createCookie } from 'authkernel/kernel'
import { expect, it } from 'vitest'
import { encryptTokens } from '../../plugins/adapters/encrypt-tokens/index.ts'
import { memoryAdapter } from '../../plugins/adapters/memory/index.ts'
import { sqlAdapter } from '../../plugins/adapters/sql/index.ts'
import { unstorageAdapter } from '../../plugins/adapters/unstorage/index.ts'
import { jsonLines, openTelemetryLogs, recordsSink } from '../../plugins/evidence/audit/index.ts'
import { portalPlugin } from '../../plugins/federation/portal/index.ts'
import { scimPlugin } from '../../plugins/federation/scim/index.ts'
import { sharedSignalsPlugin } from '../../plugins/federation/shared-signals/index.ts'
import { singleLogoutPlugin } from '../../plugins/federation/single-logout/index.ts'
import { providerTokensPlugin } from '../../plugins/federation/provider-tokens/index.ts'
import { betterAuthCompatPlugin } from '../../plugins/hosting/better-auth-compat/index.ts'
import { apiKeysPlugin } from '../../plugins/machines/api-keys/index.ts'
import { bearerPlugin } from '../../plugins/machines/bearer/index.ts'
import { deviceFlowPlugin } from '../../plugins/machines/device-flow/index.ts'
import { jwtPlugin } from '../../plugins/machines/jwt/index.ts'
import { pagesPlugin } from '../../plugins/pages/pages/index.ts'
import { organizationsPlugin } from '../../plugins/people/organizations/index.ts'
import { altcha, captchaPlugin, hcaptcha, recaptcha, turnstile } from '../../plugins/security/captcha/index.ts'
import { limitsPlugin } from '../../plugins/security/limits/index.ts'
import { twoFactorPlugin } from '../../plugins/security/two-factor/index.ts'
import { email } from '../../plugins/sign-in/codes/index.ts'
import { demoAccount } from '../../plugins/sign-in/credentials/index.ts'
import { emailPlugin } from '../../plugins/sign-in/email/index.ts'
import { pwned } from '../../plugins/sign-in/passwords/index.ts'
import { runCheck, createRefusal, signInResponse, signOutResponse } from '../../bindings/_shared/actions.ts'
import { baseConfig } from '../_setup.ts'

const app = { id: 'app', name: 'App', redirectUris: ['http://127.0.0.1/'] }
const rule = { by: 'network', max: 1, seconds: 1 }
const origin = 'http://localhost'
type Make = (...given: never[]) => unknown

it.each([
  [
    'bearer',
    bearerPlugin,
    { apps: [{ ...app, dpopBoundAccesTokens: true }] },
    /Plugin "bearer" has no option `apps.dpopBoundAccesTokens`.*"dpopBound/,
  ],
  ['bearer, token', bearerPlugin, { apps: [app], accessToken: { fromat: 'jwt' } }, /`accessToken.fromat`\. Did you mean "format"/],
  ['bearer, DPoP', bearerPlugin, { apps: [app], dpop: { nonce: true } }, /`dpop.nonce`\. Did you mean "nonces"/],
  ['jwt', jwtPlugin, { introspection: { client: [] } }, /`introspection.client`\. Did you mean "clients"/],
  ['jwt, client', jwtPlugin, { introspection: { clients: [{ id: 'a', secert: 'x' }] } }, /`introspection.clients.secert`/],
  ['device-flow', deviceFlowPlugin, { apps: ['app'], stepUp: { levl: 'mfa' } }, /`stepUp.levl`\. Did you mean "level"/],
  ['api-keys', apiKeysPlugin, { limit: { max: 1, second: 1 } }, /`limit.second`/],
  ['two-factor', twoFactorPlugin, { trustedDevices: { day: 1 } }, /`trustedDevices.day`/],
  ['organizations', organizationsPlugin, { limits: { member: 1 } }, /`limits.member`/],
  [
    'organizations, domains',
    organizationsPlugin,
    { domains: { resolveTXT: () => [] } },
    /`domains.resolveTXT`\. Did you mean "resolveTxt"/,
  ],
  ['pages', pagesPlugin, { theme: { brandColour: '#fff' } }, /`theme.brandColour`\. Did you mean "brandColor"/],
  ['single-logout', singleLogoutPlugin, { providers: { acme: { backchanel: true } } }, /`providers.acme.backchanel`/],
  ['portal', portalPlugin, { maxDay: 3 }, /`maxDay`\. Did you mean "maxDays"/],
  ['scim', scimPlugin, { tokenDay: 3 }, /`tokenDay`\. Did you mean "tokenDays"/],
  ['shared-signals', sharedSignalsPlugin, { providers: { acme: { revokes: true } } }, /`providers.acme.revokes`\. Did you mean "revoke"/],
  ['provider-tokens', providerTokensPlugin, { providers: { acme: { rotate: true } } }, /`providers.acme.rotate`/],
  ['better-auth-compat', betterAuthCompatPlugin, { tables: { users: 'u' } }, /`tables.users`\. Did you mean "user"/],
  ['limits', limitsPlugin, { rules: [{ ...rule, second: 1 }] }, /"second"/],
  ['limits, delay', limitsPlugin, { rules: [{ ...rule, delay: { firts: 1 } }] }, /delay.*firts/],
  ['altcha', altcha, { costs: 1 }, /altcha has no option `costs`\. Did you mean "cost"/],
  ['turnstile', turnstile, { sitekey: 'a' }, /turnstile has no option `sitekey`\. Did you mean "siteKey"/],
  ['hcaptcha', hcaptcha, { sitekey: 'a' }, /hcaptcha has no option/],
  ['recaptcha', recaptcha, { minscore: 1 }, /recaptcha has no option `minscore`\. Did you mean "minScore"/],
  ['email', email, { links: false }, /email has no option `links`/],
  ['demoAccount', demoAccount, { developement: true }, /demoAccount has no option `developement`/],
  ['pwned', pwned, { timeuot: 1 }, /pwned has no option/],
  ['recordsSink', recordsSink, { retentoin: 1 }, /recordsSink has no option/],
  ['jsonLines', jsonLines, { file: 'x' }, /jsonLines has no option `file`/],
  ['openTelemetryLogs', openTelemetryLogs, { library: 1 }, /openTelemetryLogs has no option/],
])('of %s', (_name, make, options, message) => {
  expect(() => (make as Make)(options as never)).toThrow(message)
})

it.each([
  [
    'sqlAdapter',
    () => sqlAdapter({} as never, { prepared: true } as never),
    /sqlAdapter has no option `prepared`\. Did you mean "prepare"/,
  ],
  ['sqlAdapter, names', () => sqlAdapter({} as never, { names: { user: 'u' } } as never), /`names.user`\. Did you mean "users"/],
  ['sqlAdapter, mapping', () => sqlAdapter({} as never, { names: { users: { column: {} } } } as never), /`names.users.column`/],
  ['unstorageAdapter', () => unstorageAdapter({} as never, { prefx: 'a' } as never), /unstorageAdapter has no option `prefx`/],
  ['encryptTokens', () => encryptTokens(memoryAdapter(), { secrets: 'a' } as never), /encryptTokens has no option `secrets`/],
  ['captcha', () => captchaPlugin(altcha(), { when: { failuers: 1 } } as never), /Plugin "captcha" has no option `when.failuers`/],
])('of %s, after what it is made of', (_name, make, message) => {
  expect(make).toThrow(message)
})

it.each([
  [{ theme: { brandColour: '#fff' } }, /createAuth has no option `theme.brandColour`\. Did you mean "brandColor"/],
  [{ experimental: { enableWebauthn: true } }, /`experimental.enableWebauthn`\. Did you mean "enableWebAuthn"/],
  [{ logger: { eror: () => {} } }, /`logger.eror`\. Did you mean "error"/],
])('of createAuth, at once: %j', (options, message) => {
  expect(() => createAuth({ ...baseConfig(), ...options } as never)).toThrow(message)
})

it.each([
  [{ cookies: { sesionToken: { name: 'sid' } } }, /`cookies.sesionToken`\. Did you mean "sessionToken"/],
  [{ cookies: { sessionToken: { option: {} } } }, /`cookies.sessionToken.option`\. Did you mean "options"/],
  [{ cookies: { sessionToken: { options: { httponly: false } } } }, /`cookies.sessionToken.options.httponly`\. Did you mean "httpOnly"/],
  [{ pages: { signin: '/in' } }, /`pages.signin`\. Did you mean "signIn"/],
  [{ pages: { login: '/in' } }, /`pages.login`\. It is called `pages.signIn`/],
])('of createAuth, where plugins have a say: %j', async (options, message) => {
  await expect(createAuth(baseConfig(options as never)).ready()).rejects.toThrow(message)
})

it('a logger with more members than ours, pages and cookies of plugins, and symbols are all right', async () => {
  const page = {
    name: 'probe',
    setup: (kernel: never) => void (kernel as { page: Make; cookie: Make }).page(...(['mine', () => null] as never[])),
  }
  const cookie = { name: 'other', setup: (kernel: never) => void (kernel as { cookie: Make }).cookie(...(['probe', {}] as never[])) }
  const options = {
    pages: { mine: '/mine' },
    cookies: { probe: { name: 'own' } },
    logger: { ...console, trace: () => {}, error: () => {} },
    [Symbol('own')]: 1,
  }
  await createAuth(baseConfig(options as never))
    .use(page as never)
    .use(cookie as never)
    .ready()
  assertOptions('Plugin "acme"', { [Symbol('own')]: 1, left: undefined } as object, {})
})

it.each([
  ['a member of the record', { fields: {}, uniqe: [] }, /Plugin "probe": the record "thing" has no option `uniqe`\. Did you mean "unique"/],
  ['a member of a field', { fields: { a: { type: 'text', seald: true } } }, /`fields.a.seald`\. Did you mean "sealed"/],
  ['the type of a field', { fields: { a: { type: 'txt' } } }, /field "a" of the unknown type "txt"/],
  ['the owner', { fields: { userId: { type: 'string' } }, owner: 'users' }, /`owner` must be an object/],
  ['what owns', { fields: { who: { type: 'string' } }, owner: { field: 'who', of: 'account' } }, /`owner\.of: "account"`/],
  ['who makes ids', { fields: {}, id: 'own' }, /`id: "own"`/],
])('of a declaration of records: %s', async (_what, spec, message) => {
  const auth = createAuth(baseConfig({ adapter: memoryAdapter() })).use({
    name: 'probe',
    setup: (kernel) => kernel.records('thing' as never, spec as never),
  })
  await expect(auth.ready()).rejects.toThrow(message)
})

it.each([
  [{ samesite: 'none' }, /Plugin "probe": the cookie "probe" has no option `samesite`\. Did you mean "sameSite"/],
  [{ sameSite: 'None' }, /has `sameSite: "None"`\. Known: "lax", "strict", "none"/],
  [{ prefix: 'hots' }, /has `prefix: "hots"`/],
  [{ path: 'bsae' }, /has `path: "bsae"`/],
])('of a declaration of cookies: %j', async (spec, message) => {
  const auth = createAuth(baseConfig()).use({ name: 'probe', setup: (kernel) => void kernel.cookie(createCookie('probe', spec as never)) })
  await expect(auth.ready()).rejects.toThrow(message)
})

it.each([
  [{ rateLimit: 1 }, /unknown member `rateLimit`\. Known: .*csrf/],
  [{ body: { byte: 1 } }, /has no option `body.byte`\. Did you mean "bytes"/],
  [{ cors: { origins: 'any', header: [] } }, /has no option `cors.header`\. Did you mean "headers"/],
])('of a route: %j', async (route, message) => {
  const handler = (): Response => new Response()
  const auth = createAuth(baseConfig()).use({
    name: 'probe',
    setup: (kernel) => kernel.route({ method: 'POST', path: '/probe', handler, ...route } as never),
  })
  await expect(auth.ready()).rejects.toThrow(message)
})

it('of a mailer that is no sign-in method', async () => {
  const mailer = emailPlugin({ signIn: false, servr: 'smtp://127.0.0.1' } as never)
  await expect(createAuth(baseConfig()).use(mailer).ready()).rejects.toThrow(/has no option `servr`\. Did you mean "server"/)
})

it('of guards, sign-ins and sign-outs of bindings: no request passes', async () => {
  const request = new Request('https://app.example/page')
  const none = [{} as never, request, {}] as const
  await expect(runCheck(() => request, {} as never, { chek: () => false } as never)).rejects.toThrow(
    /The guard has no option `chek`\. Did you mean "check"/,
  )
  await expect(createRefusal(...none, { redirectto: '/' } as never)).rejects.toThrow(/`redirectto`\. Did you mean "redirectTo"/)
  await expect(signInResponse(...none, 'acme', { redirectTO: '/' } as never)).rejects.toThrow(/signIn has no option/)
  await expect(signOutResponse(...none, { callbackUrl: '/' } as never)).rejects.toThrow(/signOut has no option `callbackUrl`/)
})

it('an unknown `csrf` of a handler lets no POST pass', async () => {
  const options = baseConfig()
  const request = new Request(`${origin}/auth/signout`, { method: 'POST', body: new URLSearchParams(), headers: { origin } })
  await createAuth(options).handler(request, { csrf: 'orign' as never })
  expect(options.logger.errors.map(({ message }) => message).join()).toMatch(/`csrf` must be "token" or "origin", not "orign"/)
})
