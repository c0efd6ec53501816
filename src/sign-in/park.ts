/** Parking a login, and going on with it. */
import type { StampOfAccess } from '../contract/access.ts'
import type { Account } from '../contract/account.ts'
import type { AdapterUser } from '../contract/adapter.ts'
import type { User } from '../contract/data.ts'
import type { Login, ParkedLogin, ParkOptions, Proof, ResumeOptions } from '../contract/login.ts'
import { AccessDenied, AuthError, InvalidProvider } from '../errors/index.ts'
import { withParams } from '../http/redirect.ts'
import { redirectTo } from '../http/messages.ts'
import type { KernelContext } from '../registry/snapshot.ts'
import { continueLogin, stampLogin } from './complete.ts'
import { maxSeconds } from './parked-parts.ts'
import { replaceData, listParked, storeParked, type StoredLogin, takeParked } from './parked-store.ts'
import { subjectOf } from './prove-again.ts'
import { undoLinkOnFailure } from './link.ts'

// A login that another plugin parks after it was resumed keeps its first stamp.
const carriedStamps = new WeakMap<KernelContext, Map<string, StampOfAccess>>()
const defaultSeconds = 600
const flowLength = 12

/** Stores the login and redirects to the page. Throws AuthError for a page that no plugin has and no caller names, and LoginTooLarge. */
export async function parkLogin(
  ctx: KernelContext,
  login: Login,
  { to, seconds = defaultSeconds, data, by }: ParkOptions,
): Promise<Response> {
  const match = ctx.app.routes.find('GET', to.split(/[?#]/, 1)[0] as string)
  const name = by ?? match?.info.plugin
  if (name === undefined)
    throw new AuthError(`ctx.park leads to ${JSON.stringify(to)}, which is no route of a plugin: name who parks the login with \`by\`.`)
  if (login.passed.includes(name)) throw new AuthError(`Plugin "${name}" parks a login that it has let go on: check \`login.passed\`.`)
  const subject = login.session === 'new' ? null : await subjectOf(ctx)
  const lifetime = Math.min(Math.max(1, seconds), maxSeconds)
  // What was proved before the wait does not become younger by it.
  const dated = { ...login, proof: { authTime: secondsOf(ctx), ...login.proof } }
  const access = carriedStamps.get(ctx)?.get(login.person) ?? (await stampLogin(ctx, login))
  const stored = await storeParked(ctx, { by: name, login: dated, data, subject, access }, lifetime)
  await ctx.emit('loginParked', { login: stored.login, by: name, expires: stored.expires })
  // Not through the `redirect` hook: it could lead past the question.
  return redirectTo(withParams((match ? ctx.base : ctx.origin) + to, { flow: stored.id.slice(0, flowLength) }))
}

/** The login that is parked for `by`: the one that `flow` names, else the newest. */
export async function findParked<D>(ctx: KernelContext, by: string | undefined): Promise<ParkedLogin<D> | null> {
  const name = by ?? ctx.route?.plugin
  const flow = await readFlowId(ctx)
  const own = (await listParked(ctx)).filter((one) => one.by === name)
  const found = flow === undefined ? own[0] : own.find(({ id }) => id.startsWith(flow))
  return found ? toParked<D>(found) : null
}

export async function keepParkedData(ctx: KernelContext, login: ParkedLogin, data: unknown): Promise<void> {
  await replaceData(ctx, login, data)
}

export async function dropParked(ctx: KernelContext, login: ParkedLogin): Promise<void> {
  await takeParked(ctx, login)
}

/** Goes on with a login, parked or not. A parked one is used up: exactly one of many callers gets a session. */
export async function resumeLogin(
  ctx: KernelContext,
  given: ParkedLogin | Login,
  { proof, passed = [] }: ResumeOptions = {},
): Promise<Response> {
  if (!('login' in given)) return continueLogin(ctx, withProof(given, proof, passed, secondsOf(ctx)))
  const stored = (await listParked(ctx)).find(({ id }) => id === given.id)
  const subject = stored?.subject ?? null
  if (!(await takeParked(ctx, given))) return answerRepeated(ctx, given.login)
  const login = withProof(given.login, proof, [given.by, ...passed], secondsOf(ctx))
  const fresh = await undoLinkOnFailure(ctx, login, async () => {
    if (login.session !== 'new' && subject !== (await subjectOf(ctx)))
      throw new AccessDenied('Another user is signed in than when the login was parked. Start again.', { cause: { by: given.by } })
    return { ...login, user: await reloadUser(ctx, login) }
  })
  await ctx.emit('loginResumed', { login: fresh, by: given.by })
  if (stored) carryStamp(ctx, fresh, stored.access)
  return continueLogin(ctx, fresh, stored?.access)
}

function carryStamp(ctx: KernelContext, { person }: Login, access: StampOfAccess): void {
  carriedStamps.set(ctx, (carriedStamps.get(ctx) ?? new Map<string, StampOfAccess>()).set(person, access))
}

/** A login for the user who is signed in. */
export async function loginAgain(ctx: KernelContext, callbackUrl: string): Promise<Login | null> {
  const user = await ctx.session.user(ctx)
  if (!user) return null
  const account = (await accountOfSession(ctx, user)) ?? {
    provider: 'session',
    providerAccountId: user.id ?? '',
    type: 'credentials' as const,
  }
  const person = ctx.store && user.id !== undefined ? `user:${user.id}` : `account:session:${user.id ?? ''}`
  const base = { user, account, isNewUser: false, trigger: 'signIn', previous: user, match: 'account' } as const
  return { ...base, callbackUrl, session: 'renew', purpose: 'stepUp', passed: [], proof: { amr: [], factors: 1 }, person }
}

/**
 * The account that the session of the request began with. Its tokens are left out: a step-up needs none, and they would not fit into cookies. Undefined where
 * the session does not say it, or its provider is gone.
 */
async function accountOfSession(ctx: KernelContext, { id = '' }: User): Promise<Account | undefined> {
  const began = await ctx.session.attributes?.(ctx)
  if (!began?.provider) return undefined
  const { provider, sub } = began
  const rows = id !== '' && ctx.store?.supports('listAccountsByUserId') ? await ctx.store.listAccountsByUserId(id) : []
  const own = rows.filter((row) => row.provider === provider)
  // Some providers name a user in their ID tokens otherwise than by the id of the account.
  const row = own.find(({ providerAccountId }) => providerAccountId === sub) ?? (own.length === 1 ? own[0] : undefined)
  if (row) return { provider, providerAccountId: row.providerAccountId, type: row.type, userId: id }
  const type = await typeOfProvider(ctx, provider)
  return type && { provider, providerAccountId: sub ?? id, type }
}

async function typeOfProvider(ctx: KernelContext, id: string): Promise<Account['type'] | undefined> {
  try {
    return (await ctx.providerById(id)).type
  } catch (error) {
    if (error instanceof InvalidProvider) return undefined
    throw error
  }
}

function toParked<D>({ id, by, login, data, expires, access }: StoredLogin): ParkedLogin<D> {
  return { id, flow: id.slice(0, flowLength), by, login, data: data as D, expires, access }
}

async function readFlowId(ctx: KernelContext): Promise<string | undefined> {
  const asked = new URL(ctx.request.url).searchParams.get('flow') ?? (ctx.request.method === 'GET' ? undefined : (await ctx.body())['flow'])
  return typeof asked === 'string' && new RegExp(`^[0-9a-f]{${flowLength}}$`).test(asked) ? asked : undefined
}

/** Adds a proof to those of a login; each method, the class and the second factor keep the time at which they were proved. */
function withProof(login: Login, more: Partial<Proof> | undefined, passed: readonly string[], now: number): Login {
  const names = [...new Set([...login.passed, ...passed])]
  if (!more) return { ...login, passed: names }
  const { amr, factors = 1, authTime, times = {}, ...rest } = login.proof
  const { amr: added = [], times: given = {} } = more
  const at = more.authTime ?? (added.length > 0 ? now : authTime)
  const methods: Record<string, number> = {}
  for (const method of amr) methods[method] = times.methods?.[method] ?? authTime ?? now
  for (const method of added) methods[method] = given.methods?.[method] ?? at ?? now
  const acrTime = more.acr === undefined ? (times.acr ?? (rest.acr === undefined ? undefined : authTime)) : (given.acr ?? at)
  const factorsTime = more.factors === 2 ? (given.factors ?? at) : (times.factors ?? (factors === 2 ? authTime : undefined))
  const proof: Proof = {
    ...rest,
    ...more,
    amr: [...new Set([...amr, ...added])],
    factors: more.factors === 2 ? 2 : factors,
    ...(at !== undefined && { authTime: at }),
    times: { methods, ...(acrTime !== undefined && { acr: acrTime }), ...(factorsTime !== undefined && { factors: factorsTime }) },
  }
  return { ...login, proof, passed: names }
}

function secondsOf({ now }: KernelContext): number {
  return Math.floor(now.getTime() / 1000)
}

/** The user may have been deleted while the login waited. */
async function reloadUser(ctx: KernelContext, { user, match, account }: Login): Promise<Login['user']> {
  if (!ctx.store || match === 'none' || user.id === undefined) return user
  const stored: AdapterUser | null = await ctx.store.getUser(user.id)
  if (!stored) throw new AccessDenied('The user was deleted while the login waited.', { cause: { provider: account.provider } })
  return stored
}

/** The second of two clicks: a user who is signed in by the first goes where it led, all others start again. */
async function answerRepeated(ctx: KernelContext, { user, callbackUrl }: Login): Promise<Response> {
  const current = await ctx.session.user(ctx)
  return current?.id !== undefined && current.id === user.id ? redirectTo(callbackUrl) : ctx.page('signIn')
}
