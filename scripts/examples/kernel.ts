/** One line for each member of `Kernel` and of what it gives; docs/reference shows them. */
import {
  AccessDenied,
  createCookie,
  createPending,
  json,
  type Context,
  type EntryPoints,
  type Kernel,
  type LoginApi,
} from 'authkernel/kernel'
import type { DoorCardConfig } from './types.ts'
import { doorCardFlow } from './types.ts'

interface With {
  kernel: Kernel
  ctx: Context
  request: Request
}
type Lines = Readonly<Record<string, (given: With) => unknown>>

export const kernelExamples: Lines = {
  config: ({ kernel }) => kernel.config.basePath,
  runtime: ({ kernel }) => kernel.runtime.now() + 60_000,
  defaults: ({ kernel }) => kernel.defaults({ cookiePrefix: 'shop' }),
  declareEvent: ({ kernel }) => kernel.declareEvent('doorOpened'),
  declareHook: ({ kernel }) => kernel.declareHook('doorOpens', 'guard'),
  provide: ({ kernel }) => kernel.provide('once', { take: () => true, taken: () => false }, { fallback: true }),
  decorate: ({ kernel }) => kernel.decorate('mail', ({ send }) => ({ send: (ctx, to, ...rest) => send(ctx, to.toLowerCase(), ...rest) })),
  service: ({ kernel }) => kernel.service('limit').refund('card door'),
  records: ({ kernel }) => kernel.records('shopNote', { fields: { userId: { type: 'string' }, text: { type: 'text' } }, owner: 'user' }),
  sessionStrategy: ({ kernel, ctx }) => kernel.sessionStrategy('ticket', () => ctx.session),
  sessionKind: ({ kernel }) => kernel.sessionKind('kiosk'),
  cookie: ({ kernel }) => kernel.cookie('shop-device', { path: 'base', maxAge: 86_400 }),
  'cookie 2': ({ kernel }) => kernel.cookie(createCookie('shop-device', { maxAge: 86_400 })),
  pending: ({ kernel }) => kernel.pending<{ to: string }>('shop-orders', { seconds: 600 }),
  'pending 2': ({ kernel }) => kernel.pending(createPending<{ to: string }>('shop-orders', { seconds: 600 })),
  providerType: ({ kernel }) => kernel.providerType('door-card', doorCardFlow),
  provider: ({ kernel }) =>
    kernel.provider({ type: 'door-card', id: 'door', name: 'Card at the door', people: [] } satisfies DoorCardConfig),
  route: ({ kernel }) => kernel.route({ method: 'GET', path: '/status', handler: () => json({ open: true }) }),
  page: ({ kernel }) => kernel.page('terms', (_ctx, { html }) => ({ title: 'Terms', body: html`<p>Be kind.</p>` }), { path: '/terms' }),
  slot: ({ kernel }) => kernel.slot('signIn', 'foot', (_ctx, { html }) => ({ html: html`<p>Questions? Call us.</p>` })),
  accountSection: ({ kernel }) => kernel.accountSection({ id: 'notes', draw: () => ({ heading: 'Notes', body: 'None yet.' }) }),
  messages: ({ kernel }) => kernel.messages({ en: { 'shop.title': 'Shop' }, de: { 'shop.title': 'Laden' } }),
  mailTemplate: ({ kernel }) => kernel.mailTemplate('shop.order', { subject: 'shop.order-subject', lines: ['shop.order-thanks'] }),
  hook: ({ kernel }) => kernel.hook('signIn', ({ user }) => user.email?.endsWith('@example.com') === true),
  'hook 2': ({ kernel }) => kernel.hook('invitation', ({ email }) => email.endsWith('@example.com'), { of: 'organizations' }),
  on: ({ kernel }) => kernel.on('signedIn', ({ login }) => console.log(login.person)),
  'on 2': ({ kernel }) => kernel.on('doorOpened', ({ card }) => console.log(card), { of: 'doors' }),
  'on 3': ({ kernel }) => kernel.on('*', ({ event, message }) => console.log(event, message.facts.requestId)),
  observe: ({ kernel }) => kernel.observe({ hook: ({ name }, work) => (console.time(name), work()) }),
  entryPoints: ({ kernel, request }) => kernel.entryPoints.session(request),
  credential: ({ kernel }) => kernel.credential((headers) => headers.get('x-shop-key') ?? undefined),
  preload: ({ kernel }) => kernel.preload(() => import('node:zlib')),
  onAccessEnd: ({ kernel }) =>
    kernel.onAccessEnd('key', (ctx, { which }) =>
      'userId' in which ? ctx.records('shopNote').deleteWhere({ where: { userId: which.userId } }) : 0,
    ),
  onClose: ({ kernel }) => kernel.onClose(() => console.log('closed')),
  contextOf: async ({ kernel, request }) => (await kernel.contextOf(request)).currentSession(),
  'contextOf 2': async ({ kernel }) => (await kernel.contextOf({ job: 'report', tenant: null })).records('shopNote').count(),
  'contextOf 3': async ({ kernel, request }) => (await kernel.contextOf(request)).facts,
  answer: ({ kernel, ctx }) => kernel.answer(ctx, new Response('done')),
  job: ({ kernel }) => kernel.job({ job: 'sweep' }, (ctx) => ctx.records('shopNote').deleteWhere({})),
  matches: ({ kernel, request }) => kernel.matches(request),
  inspect: ({ kernel }) => kernel.inspect().plugins.map(({ name }) => name),
  placeOf: ({ kernel }) => kernel.placeOf('/.well-known/jwks.json'),
}

type Entries = Readonly<Record<string, (given: { auth: EntryPoints; request: Request }) => unknown>>
export const entryPointsExamples: Entries = {
  handler: ({ auth, request }) => auth.handler(request),
  dispatch: ({ auth, request }) => auth.dispatch(request).catch((error) => (error instanceof AccessDenied ? 'refused' : 'failed')),
  session: ({ auth, request }) => auth.session(request),
  read: async ({ auth, request }) => (await auth.read(request)).headers.getSetCookie(),
  ready: ({ auth }) => auth.ready(),
  cleanup: async ({ auth }) => console.log(await auth.cleanup()),
  reseal: async ({ auth }) => console.log(await auth.reseal()),
  login: ({ auth, request }) => auth.login.parked(request, 'second-factor'),
  rootPaths: ({ auth }) => auth.rootPaths.map((path) => path),
}

export const loginApiExamples: Readonly<Record<string, (given: { login: LoginApi; request: Request }) => unknown>> = {
  parked: ({ login, request }) => login.parked<{ tries: number }>(request, 'second-factor'),
  resume: ({ login, request }) => login.resume(request, 'second-factor', { proof: { amr: ['otp'], factors: 2 } }),
}
