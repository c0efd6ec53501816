/** One line for each service and for the members of those that plugins call or bring; docs/reference shows them. */
import type {
  Context,
  Lease,
  Limit,
  Login,
  Mail,
  MailTransport,
  Once,
  Pages,
  Revocations,
  Sealer,
  SessionAttributes,
  SessionStrategy,
} from 'authkernel/kernel'

type Uses<S> = Readonly<{
  [K in keyof S]-?: (
    given: { [P in keyof S]-?: NonNullable<S[P]> },
    more: { ctx: Context; login: Login; attributes: SessionAttributes },
  ) => unknown
}>
export const servicesExamples: Readonly<Record<string, (ctx: Context) => unknown>> = {
  store: (ctx) => ctx.service('store').getUser('user-1'),
  session: (ctx) => ctx.service('session').abilities?.has('list'),
  once: (ctx) => ctx.service('once').take('invoice 17', 3600),
  sealer: (ctx) => ctx.service('sealer').seal('shop-order', { order: '17' }, 600, ctx.settings),
  limit: (ctx) => ctx.service('limit').take('export user-1', { max: 3, seconds: 86_400 }),
  publicFetch: (ctx) => ctx.service('publicFetch').get('https://idp.acme.example/metadata', { types: ['application/samlmetadata+xml'] }),
  pages: (ctx) => ctx.service('pages').render('error', ctx, { error: 'Verification' }),
  mail: (ctx) => ctx.service('mail').send(ctx, 'ada@example.com', 'shop.order', { left: { seconds: 600 } }),
  mailTransport: (ctx) => ctx.service('mailTransport').verify?.(ctx.signal),
  oauth: async (ctx) => (await ctx.service('oauth').metadata(ctx, 'acme'))['end_session_endpoint'],
  records: (ctx) => ctx.service('records').missing?.(),
  revocations: (ctx) => ctx.service('revocations').sync(),
  appTokens: (ctx) => ctx.service('appTokens').client('phone')?.name,
  signingKeys: (ctx) => ctx.service('signingKeys').sign(ctx, 'receipt+jwt', { sub: 'ada', exp: 1_800_000_000 }),
  accessTokens: (ctx) => ctx.service('accessTokens').verify(ctx, 'a token', ['https://api.example']),
  homeRealm: (ctx) => ctx.service('homeRealm'),
  sessionCookie: (ctx) => ctx.service('sessionCookie').write(ctx, 'a token'),
  sessionFreshness: (ctx) => ctx.app.services.sessionFreshness?.seconds,
  sharedCredentials: (ctx) => ctx.service('sharedCredentials').has(ctx, '4711'),
  passwordTakeover: (ctx) => ctx.service('passwordTakeover').take(ctx, [{ userId: '4711', hash: 'salt:key' }], { dry: true }),
  factorTakeover: (ctx) =>
    ctx.service('factorTakeover').take(ctx, [{ userId: '4711', secret: 'JBSWY3DPEHPK3PXP', backupCodes: [] }], { dry: true }),
}
export const onceExamples: Uses<Once> = {
  take: (once) => once.take('code 4711', 600),
  taken: (once) => once.taken('code 4711'),
  shared: (once) => once.shared === true,
}
export const limitExamples: Uses<Limit> = {
  take: async (limit) => (await limit.take('code user-1', { max: 5, seconds: 300 })).retryAfter,
  refund: (limit) => limit.refund('code user-1'),
}
export const leaseExamples: Uses<Lease> = {
  renew: (lease) => lease.renew(60),
  release: (lease) => lease.release(),
}
export const sealerExamples: Uses<Sealer> = {
  seal: (sealer, { ctx }) => sealer.seal('shop-order', { order: '17' }, null, ctx.settings),
  open: (sealer, { ctx }) => sealer.open('shop-order', 'what seal answered', ctx.settings, true),
}
export const pagesExamples: Uses<Pages> = { render: (pages, { ctx }) => pages.render('error', ctx, { error: 'AccessDenied' }) }
export const mailExamples: Uses<Mail> = {
  send: (mail, { ctx }) => mail.send(ctx, 'ada@example.com', 'shop.order', { order: '17' }),
  write: async (mail, { ctx }) => (await mail.write(ctx, 'shop.order', { order: '17' })).subject,
  preview: async (mail, { ctx }) => (await mail.preview(ctx, 'shop.order', { lang: 'de' })).html,
}
export const mailTransportExamples: Uses<MailTransport> = {
  from: (transport) => transport.from ?? 'no-reply@example.com',
  send: (transport, { ctx }) =>
    transport.send({ from: 'a@example.com', to: 'b@example.com', subject: 'Hello', text: 'Hi', html: '<p>Hi</p>' }, ctx.signal, ctx),
  verify: (transport, { ctx }) => transport.verify(ctx.signal),
}
export const sessionStrategyExamples: Uses<SessionStrategy> = {
  abilities: (session) => session.abilities.has('revoke:user'),
  methods: (session) => session.methods.includes('getSessionAndUser'),
  storedUsers: (session) => session.storedUsers === true,
  read: (session, { ctx }) => session.read(ctx),
  user: async (session, { ctx }) => (await session.user(ctx))?.id,
  subject: (session, { ctx }) => session.subject(ctx),
  id: (session, { ctx }) => session.id(ctx),
  issue: (session, { ctx, login, attributes }) => session.issue(ctx, login, attributes),
  kinds: async (session, { ctx }) => (await session.kinds(ctx)).includes('kiosk'),
  takeBack: (session, { ctx }) => session.takeBack(ctx, { id: 'session-1' }),
  isLive: (session, { ctx }) => session.isLive(ctx),
  attributes: async (session, { ctx }) => (await session.attributes(ctx))?.authTime,
  list: async (session, { ctx }) => (await session.list(ctx, 'user-1')).map(({ id, lastUsed }) => [id, lastUsed]),
  update: (session, { ctx }) => session.update(ctx, { theme: 'dark' }),
  end: (session, { ctx }) => session.end(ctx),
  revoke: (session, { ctx }) => session.revoke(ctx, { userId: 'user-1' }),
}
export const revocationsExamples: Uses<Revocations> = {
  entries: (revocations) => revocations.entries.size,
  freshUntil: (revocations) => revocations.freshUntil > Date.now(),
  renewAt: (revocations) => revocations.renewAt <= Date.now(),
  complete: (revocations) => revocations.complete || 'ask ended()',
  ended: (revocations) => revocations.ended(' user:user-1'),
  sync: (revocations) => revocations.sync(),
  revoke: (revocations, { ctx }) => revocations.revoke(ctx, [{ key: 'user:user-1', before: ctx.now.getTime() }], 86_400),
  place: (revocations) => revocations.place(),
  reaches: (revocations, { ctx }) =>
    revocations.reaches({ key: 'user:user-1', before: ctx.now.getTime() }, { started: 0, place: revocations.place() }),
  follow: (revocations) => revocations.follow(revocations.place()),
  former: (revocations) => revocations.former.entries.size,
}
