/** One handler for each hook and each event; docs/reference shows them. */
import type { EventHandler, Events, HookHandler, Hooks } from 'authkernel/kernel'

type Answers = { readonly [K in keyof Hooks & string]?: HookHandler<K> }
export const hooksExamples: Answers = {
  request: ({ ctx }) => (ctx.route?.flow === 'signIn' ? new Response('Back at noon.', { status: 503 }) : undefined),
  settings: ({ request }) => (new URL(request.url).host === 'a.example' ? { namespace: 'a', origin: 'https://a.example' } : undefined),
  tenant: ({ tenant }) => (tenant === 'a' ? { namespace: 'a', origin: 'https://a.example' } : undefined),
  tenants: () => ['a', 'b'],
  provider: ({ id }) =>
    id === 'partner' ? { type: 'oidc', id, name: 'Partner', issuer: 'https://id.partner.example', clientId: 'shop' } : undefined,
  providers: ({ providers }) => providers.filter(({ id }) => id !== 'hidden'),
  homeRealm: ({ identifier }) => (identifier.endsWith('@partner.example') ? { provider: 'partner' } : undefined),
  authorizationRequest: ({ parameters }) => {
    parameters.set('ui_locales', 'de')
    return parameters
  },
  signIn: ({ user, known }) => known === true || user.email?.endsWith('@example.com') === true,
  link: ({ account }) => account.provider !== 'untrusted',
  createUser: ({ user, proved }) => proved && user.email?.endsWith('@acme.example') === true,
  deleteUser: ({ userId }) => userId !== 'root',
  login: ({ login, ctx }) => (login.isNewUser ? ctx.park(login, { to: '/terms' }) : undefined),
  authenticate: ({ ctx }) => (ctx.request.headers.has('x-revoked') ? null : undefined),
  redirect: ({ url, baseUrl }) => (url.startsWith('https://app.example/') ? url : baseUrl),
  jwt: ({ token, user }) => (user ? { ...token, role: 'member' } : token),
  session: ({ session, token }) => ({ ...session, role: token?.['role'] }),
  access: ({ userId, by }) => by !== 'credential' || userId !== 'kiosk',
  signOut: () => 'https://id.example/logout',
  proofLevel: async ({ login, ctx }) => ((await ctx.records('shopNote').count({ userId: login.user.id ?? '' })) > 0 ? 'mfa' : undefined),
  stepUp: ({ login, level, ctx }) => (level === 'mfa' ? ctx.park(login, { to: '/second-factor' }) : undefined),
  response: ({ response, ctx }) =>
    ctx.request.headers.has('x-old-client') ? new Response(response.body, { status: 200, headers: response.headers }) : undefined,
  failure: ({ error }) => (error.type === 'AccessDenied' ? new Response('Ask your administrator.', { status: 403 }) : undefined),
}
type Listeners = { readonly [K in keyof Events & string]?: EventHandler<K> }
export const eventsExamples: Listeners = {
  accessEnded: ({ by, ended }) => console.log(by, ended.app),
  createUser: ({ user }) => console.log('welcome', user.id),
  updateUser: ({ user }) => console.log('address proved', user.id),
  deleteUser: ({ userId }) => console.log('gone', userId),
  linkAccount: ({ user, account }) => console.log(user.id, 'linked', account.provider),
  unlinkAccount: ({ userId, account }) => console.log(userId, 'unlinked', account.provider),
  session: ({ session }) => console.log('read until', session.expires),
  signIn: ({ user, account, isNewUser }) => console.log(user.id, account?.provider, isNewUser),
  signedIn: ({ login, session }) => console.log(login.person, session?.id, session?.attributes.methods),
  signOut: (ended) => console.log('token' in ended ? ended.token?.sub : ended.session?.userId),
  sessionsEnded: ({ which, count, by }) => console.log(which, count, by),
  loginParked: ({ by, expires }) => console.log('waits for', by, 'until', expires),
  loginResumed: ({ login, by }) => console.log(login.person, 'passed', by),
  signInFailed: ({ provider, error, tried, facts }) => console.warn(provider, error.type, tried, facts.address),
  refused: ({ reason, route }) => console.warn(reason, route?.path),
  credentialChanged: ({ user, kind, action }) => console.log(user?.id, kind, action),
  linkRequested: ({ user, provider }) => console.log(user.id, 'wants to link', provider),
  tenantCleanedUp: ({ ctx }) => console.log('cleaned up', ctx.facts.namespace),
  cleanedUp: ({ report }) => console.log('sessions removed', report.sessions),
  noted: ({ name, outcome, user }) => console.log(name, outcome, user?.id),
  configurationFault: ({ error }) => console.error(error.message),
}
