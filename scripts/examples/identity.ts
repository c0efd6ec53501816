/** One line for each member of `Identity`, `Proof`, `Login`, `ParkedLogin` and `ProviderFlow`; docs/reference shows them. */
import { type Identity, type Login, type ParkedLogin, type Proof, type ProviderFlow, redirectTo } from 'authkernel/kernel'
import { AccountNotLinked } from 'authkernel/errors'
import type { DoorCardConfig } from './types.ts'

type Part<T> = Readonly<{ [K in keyof T]-?: () => Partial<T> }>
export const identityExamples: Part<Identity> = {
  user: () => ({ user: { name: 'Ada', email: 'ada@example.com' } }),
  account: () => ({ account: { type: 'door-card', provider: 'door', providerAccountId: 'card-17' } }),
  profile: () => ({ profile: { sub: 'card-17', floor: 3 } }),
  credentials: () => ({ credentials: { name: 'ada' } }),
  record: () => ({ record: { scope: 'read' } }),
  match: () => ({ match: 'account' }),
  ownerAfterSignIn: () => ({ ownerAfterSignIn: true }),
  trustsEmail: () => ({ trustsEmail: false }),
  provesEmail: () => ({ provesEmail: true }),
  isRegistration: () => ({ isRegistration: true }),
  startedBy: () => ({ startedBy: null }),
  refreshTokens: () => ({ refreshTokens: true }),
  proof: () => ({ proof: { amr: ['hwk', 'user'], factors: 2 } }),
  onLinked: () => ({ onLinked: (user) => console.log('card of', user.id) }),
  former: () => ({ former: { providerAccountId: '42', owns: ({ type }) => type === 'oidc' } }),
  onFailed: () => ({ onFailed: (error) => console.warn('card refused', error) }),
}
export const proofExamples: Part<Proof> = {
  amr: () => ({ amr: ['otp'] }),
  acr: () => ({ acr: 'urn:mace:incommon:iap:silver' }),
  authTime: () => ({ authTime: Math.floor(Date.now() / 1000) }),
  factors: () => ({ factors: 2 }),
  times: () => ({ times: { methods: { pwd: 1_767_322_800 }, factors: 1_767_323_000 } }),
  sub: () => ({ sub: '248289761001' }),
  sid: () => ({ sid: '08a5019c-17e1-4977-8f42-65a12843ea02' }),
}
type Reads<T> = Readonly<{ [K in keyof T]-?: (given: T) => unknown }>
export const loginExamples: Reads<Login> = {
  user: (login) => login.user.email,
  account: (login) => login.account.provider === 'github',
  profile: (login) => login.profile?.['hd'],
  isNewUser: (login) => login.isNewUser === true,
  trigger: (login) => login.trigger === 'signUp',
  session: (login) => login.session === 'renew',
  purpose: (login) => login.purpose === 'stepUp',
  passed: (login) => login.passed.includes('two-factor'),
  proof: (login) => login.proof.factors === 2,
  person: (login) => console.log('asked', login.person),
  trimmed: (login) => login.trimmed?.includes('tokens'),
  previous: (login) => login.previous?.id,
  match: (login) => login.match === 'email',
  linked: (login) => login.linked === true,
  callbackUrl: (login) => new URL(login.callbackUrl).pathname,
}
export const parkedLoginExamples: Reads<ParkedLogin<{ tries: number }>> = {
  id: (parked) => `tries ${parked.id}`,
  flow: (parked) => `/second-factor?flow=${parked.flow}`,
  login: (parked) => parked.login.user.name,
  by: (parked) => parked.by === 'second-factor',
  data: (parked) => parked.data.tries + 1,
  access: (parked) => parked.access.generation,
  expires: (parked) => parked.expires.toISOString(),
}
type Flow = ProviderFlow<DoorCardConfig>
export const providerFlowExamples: Part<Flow> = {
  callback: () => ({ callback: { GET: false, POST: 'token' } }),
  requires: () => ({ requires: ['doorCards', 'limit'] }),
  methods: () => ({ methods: ['getUserByAccount'] }),
  env: () => ({ env: { people: 'PEOPLE' } }),
  options: () => ({ options: { people: true } }),
  open: () => ({ open: ({ id }) => id.startsWith('custom-') }),
  notLinked: () => ({ notLinked: (message) => new AccountNotLinked(message) }),
  validate: () => ({
    validate({ id, people }) {
      if (people.length === 0) throw new Error(`doorCardPlugin: provider "${id}" needs people.`)
    },
  }),
  check: () => ({
    check: () =>
      import('node:net').catch(() => {
        throw new Error('Run it on Node.')
      }),
  }),
  form: () => ({ form: () => ({ post: 'callback', fields: { card: { label: 'Card', required: true } } }) }),
  typed: () => ({ typed: async (ctx, user) => (await ctx.records('shopNote').count({ userId: user.id })) > 0 }),
  vouches: () => ({ vouches: ({ id }) => id !== 'visitors' }),
  provesAddress: () => ({ provesAddress: () => false }),
  canSignIn: () => ({ canSignIn: (_ctx, _provider, user, account) => account !== undefined && user.emailVerified !== null }),
  revokeUnverified: () => ({
    revokeUnverified: async (ctx, user) => (await ctx.records('shopNote').deleteWhere({ where: { userId: user.id } })) > 0,
  }),
  onUnlinked: () => ({
    onUnlinked: async (ctx, { providerAccountId }) =>
      void (await ctx.records('shopNote').deleteWhere({ where: { userId: providerAccountId } })),
  }),
  namesIn: () => ({ namesIn: ({ providerAccountId }) => ({ sub: providerAccountId }) }),
  stepUp: () => ({ stepUp: (ctx, { id }, { maxAge }) => redirectTo(`${ctx.base}/door/${id}?maxAge=${maxAge}`) }),
  start: () => ({ start: (ctx) => redirectTo(`${ctx.base}/door`) }),
  finish: () => ({ finish: async (ctx) => ctx.page('signIn', { error: 'AccessDenied' }) }),
}
