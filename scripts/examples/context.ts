/** One line for each member of `Context`, `JobContext`, `Facts` and `App`; docs/reference shows them. */
import {
  type App,
  type CommonContext,
  type Context,
  type Facts,
  HttpError,
  type Identity,
  json,
  type JobContext,
  type Login,
} from 'authkernel/kernel'
import type { DoorCardConfig } from './types.ts'

export const commonContextExamples: Readonly<Record<string, (ctx: CommonContext & Context) => unknown>> = {
  app: (ctx) => ctx.app.providers.has('github'),
  users: async (ctx) => (await ctx.users.create({ email: 'ada@example.com', emailVerified: null })).id,
  access: (ctx) => ctx.access.allows('user-1', 'credential'),
  settings: (ctx) => ctx.settings.cookiePrefix,
  runtime: (ctx) => ctx.runtime.fetch('https://api.example/', { signal: ctx.signal }),
  logger: (ctx) => ctx.logger.warn('quota', { left: 3 }),
  facts: (ctx) => console.log(JSON.stringify(ctx.facts)),
  session: (ctx) => ctx.session.list?.(ctx as Context, 'user-1'),
  store: (ctx) => ctx.store?.getUserByEmail('ada@example.com'),
  once: (ctx) => ctx.once.take('invoice 17', 3600),
  limit: (ctx) => ctx.limit.take('export user-1', { max: 3, seconds: 86_400 }),
  now: (ctx) => new Date(ctx.now.getTime() + 60_000),
  signal: (ctx) => ctx.signal.throwIfAborted(),
  service: (ctx) => ctx.service('mail').send(ctx, 'ada@example.com', 'shop.order', {}),
  providerById: async (ctx) => (await ctx.providerById('github')).name,
  peekProvider: (ctx) => ctx.peekProvider('github')?.name,
  flow: async (ctx) => ctx.flow(await ctx.providerById('github')).callback,
  seal: (ctx) => ctx.seal('shop-order', { order: '17' }, 600),
  open: (ctx) => ctx.open<{ order: string }>('shop-order', 'what seal answered'),
  records: (ctx) => ctx.records('shopNote').create({ userId: 'user-1', text: 'Call back' }),
  atomic: (ctx) =>
    ctx.atomic([
      { record: 'shopNote', take: 'note-1' },
      { record: 'shopNote', create: { userId: 'user-1', text: 'Done' } },
    ]),
  lease: async (ctx) => (await ctx.lease('shop-report', 60))?.release(),
  ask: (ctx) =>
    ctx.ask('doorOpens', { provider: { type: 'door-card', id: 'door', name: 'Door', people: [] } satisfies DoorCardConfig, now: ctx.now }),
  has: (ctx) => ctx.has('hook', 'login'),
  emit: (ctx) => ctx.emit('deleteUser', { userId: 'user-1' }),
  digest: (ctx) => ctx.digest('shop-invite', 'a code'),
  digests: async (ctx) => (await ctx.digests('shop-invite', 'a code')).includes('a stored digest'),
}

type Given = (ctx: Context, more: { login: Login; identity: Identity }) => unknown
export const contextExamples: Readonly<Record<string, Given>> = {
  request: (ctx) => ctx.request.headers.get('accept-language'),
  route: (ctx) => ctx.route?.flow === 'callback',
  params: (ctx) => ctx.params['provider'] === 'github',
  url: (ctx) => ctx.url.searchParams.get('tab'),
  origin: (ctx) => ctx.origin + '/welcome',
  basePath: (ctx) => ctx.basePath + '/terms',
  base: (ctx) => ctx.base + '/terms',
  canSetCookies: (ctx) => ctx.canSetCookies || 'read only',
  clientAddress: (ctx) => ctx.clientAddress ?? 'unknown',
  cookies: (ctx) => ctx.cookie(ctx.cookies.sessionToken.name),
  provider: async (ctx) => (await ctx.provider()).type,
  providers: async (ctx) => (await ctx.providers()).map(({ id }) => id),
  callbackUrl: async (ctx) => json({ url: await ctx.callbackUrl() }),
  useCallbackUrl: (ctx) => ctx.useCallbackUrl('/orders'),
  body: async (ctx) => (await ctx.body())['email'],
  form: async (ctx) => (await ctx.form()).getAll('scope'),
  text: async (ctx) => JSON.parse(await ctx.text()),
  bytes: async (ctx) => (await ctx.bytes()).length,
  cookie: (ctx) => ctx.cookie('theme') ?? 'light',
  chunkedCookie: (ctx) => ctx.chunkedCookie('shop-cart'),
  setCookie: (ctx) => ctx.setCookie('theme', 'dark', { path: '/', maxAge: 86_400 }),
  setChunkedCookie: (ctx) => ctx.setChunkedCookie('shop-cart', 'x'.repeat(6000), { path: '/', httpOnly: true }),
  deleteCookie: (ctx) => ctx.deleteCookie('theme', { path: '/' }),
  addHeader: (ctx) => ctx.addHeader('Server-Timing', 'sign-in;dur=12'),
  page: (ctx) => ctx.page('signIn', { error: 'AccessDenied' }),
  render: (ctx) => ctx.render('terms', { error: 'NotAccepted' }),
  redirect: (ctx) => ctx.redirect(ctx.url.searchParams.get('to') ?? '/'),
  csrfToken: async (ctx) => json({ csrfToken: await ctx.csrfToken() }),
  currentSession: async (ctx) => {
    if (!(await ctx.currentSession())) throw new HttpError(401, 'Sign in first.')
  },
  complete: (ctx, { identity }) => ctx.complete(identity),
  park: (ctx, { login }) => ctx.park(login, { to: '/terms', seconds: 600, data: { version: 3 } }),
  parked: async (ctx) => (await ctx.parked<{ version: number }>())?.data.version,
  keep: async (ctx) => {
    const parked = await ctx.parked()
    if (parked) await ctx.keep(parked, { version: 3, read: true })
  },
  drop: async (ctx) => {
    const parked = await ctx.parked()
    if (parked) await ctx.drop(parked)
  },
  resume: async (ctx) => {
    const parked = await ctx.parked()
    return parked ? ctx.resume(parked, { proof: { amr: ['otp'] } }) : ctx.page('signIn')
  },
  actAs: (ctx) => ctx.actAs({ type: 'scim', id: 'Okta of Acme' }),
  loginAgain: async (ctx) => (await ctx.loginAgain({ callbackUrl: ctx.origin }))?.person,
}

export const jobContextExamples: Readonly<Record<string, (ctx: JobContext) => unknown>> = {
  request: (ctx) => ctx.request === undefined,
  job: (ctx) => console.log(ctx.job, 'began at', ctx.now),
}

export const factsExamples: Readonly<Record<string, (facts: Facts) => unknown>> = {
  requestId: (facts) => console.log('request', facts.requestId),
  address: (facts) => facts.address?.startsWith('10.'),
  userAgent: (facts) => facts.userAgent?.includes('Firefox'),
  namespace: (facts) => facts.namespace || 'default',
  at: (facts) => new Date(facts.at).toISOString(),
  job: (facts) => facts.job ?? 'a request',
  actor: (facts) => (facts.actor ? `${facts.actor.type} ${facts.actor.id}` : 'no program'),
}

export const appExamples: Readonly<Record<string, (app: App) => unknown>> = {
  config: (app) => app.config.session.maxAge,
  settings: (app) => app.settings.basePath,
  providers: (app) => [...app.providers.keys()],
  routes: (app) => app.routes.list.map(({ method, path }) => `${method} ${path}`),
  parts: (app) => app.parts.sections.map(({ id }) => id),
  sessionKinds: (app) => app.sessionKinds.has('kiosk'),
  mailTemplates: (app) => app.mailTemplates.has('shop.order'),
  services: (app) => app.services.records?.shared === true,
  store: (app) => app.store?.supports('deleteUser'),
  plugins: (app) => app.plugins.includes('audit'),
  shared: (app) => app.shared.cache<string>('shop').get('rates'),
  fault: (app) => app.fault?.message,
}
