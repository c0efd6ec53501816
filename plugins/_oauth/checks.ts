/**
 * Pending flows: what the browser keeps between the authorization request and its answer (D12, D47). Each of the three cookies
 * holds a sealed list, an entry per tab; an entry is known by the hash of the flow's `state` and used once.
 */
import { type Context, equal, InvalidCheck, type OIDCCheck, sha256, subjectOf, toBase64Url } from 'authkernel/kernel'
import { isFormPost } from './endpoints.ts'
import type { OAuthProvider } from './types.ts'

/** Seconds that a person may take at the provider. */
export const flowLifetime = 900
const maxFlows = 5
// A cookie of 4096 bytes less its name and attributes.
const maxCookie = 3_900

const kinds = ['state', 'pkceCodeVerifier', 'nonce'] as const
type Kind = (typeof kinds)[number]

/** One pending flow in one cookie. */
interface Entry {
  /** SHA-256 of the state. */
  id: string
  provider: string
  /** Seconds since the epoch. */
  created: number
  /** PKCE verifier or nonce. */
  value?: string
  callbackUrl?: string
  checks?: readonly string[]
  maxAge?: number
  /** Who was signed in. */
  by?: string
  /** Comes back by a cross-site POST. */
  post?: boolean
}
/** What a new flow remembers. */
export interface Started {
  state: string | undefined
  verifier: string | undefined
  nonce: string | undefined
  callbackUrl: string
  checks: readonly OIDCCheck[]
  /** Seconds since the last authentication that the request allowed. */
  maxAge: number | undefined
}
/** What a flow that came back brings along. */
export interface Flow {
  /** The state parameter; undefined when `checks` is `none`. */
  state: string | undefined
  verifier: string | undefined
  nonce: string | undefined
  maxAge: number | undefined
  /** Who was signed in when it began; null: nobody, or nobody knows. */
  startedBy: string | null
}

/** Checks in force: `none` counts alone only, and a redirect proxy needs the state (D47). */
export function checksOf(provider: OAuthProvider, proxied: boolean): readonly OIDCCheck[] {
  const checks = provider.checks ?? ['pkce']
  if (checks.length === 1 && checks[0] === 'none' && !proxied) return checks
  return [...new Set<OIDCCheck>([...checks.filter((check) => check !== 'none'), 'state'])]
}

/** Stores a flow beside those of other tabs. */
export async function remember(ctx: Context, provider: OAuthProvider, started: Started): Promise<void> {
  if (started.state === undefined) return
  const id = await idOf(started.state)
  const base = { id, provider: provider.id, created: seconds(ctx), ...(isFormPost(provider) && { post: true }) }
  const callbackUrl = started.callbackUrl === ctx.origin ? {} : { callbackUrl: started.callbackUrl }
  const by = ctx.store && (await subjectOf(ctx))
  await add(ctx, 'state', {
    ...base,
    ...callbackUrl,
    ...(by && { by }),
    ...(started.maxAge !== undefined && { maxAge: started.maxAge }),
    checks: started.checks,
  })
  if (started.verifier !== undefined) await add(ctx, 'pkceCodeVerifier', { ...base, value: started.verifier })
  if (started.nonce !== undefined) await add(ctx, 'nonce', { ...base, value: started.nonce })
}

/** Finds the flow that a callback belongs to and uses it up, whatever comes of it. Throws InvalidCheck. */
export async function take(ctx: Context, provider: OAuthProvider, params: URLSearchParams): Promise<Flow> {
  if (checksOf(provider, proxyInUse(ctx, provider)).includes('none')) return takeCode(ctx, provider, params)
  const states = params.getAll('state')
  const state = states.length === 1 ? (states[0] ?? '') : ''
  const id = await idOf(state)
  const found: Partial<Record<Kind, Entry>> = {}
  for (const kind of kinds) {
    const entry = await remove(ctx, kind, id)
    if (entry) found[kind] = entry
  }
  const flow = found.state
  if (state === '') throw invalid(provider, states.length > 1 ? 'repeats the parameter `state`' : 'has no `state`')
  if (!flow)
    throw invalid(provider, 'belongs to no sign-in that this browser has under way: it was opened elsewhere, or the state cookie is gone')
  // Where this tab wanted to go; the callback-url cookie knows the last tab only.
  ctx.useCallbackUrl(flow.callbackUrl ?? ctx.origin)
  if (flow.provider !== provider.id) throw invalid(provider, `answers a sign-in at provider "${flow.provider}"`)
  if (flow.created + flowLifetime <= seconds(ctx)) throw invalid(provider, `came more than ${flowLifetime} seconds after its start`)
  // Ten parallel copies of one callback make one token request (D35).
  if (!(await ctx.once.take(`state:${id}`, flowLifetime))) throw invalid(provider, 'was used before')
  return {
    state,
    verifier: needed(provider, flow, found.pkceCodeVerifier, 'pkce'),
    nonce: needed(provider, flow, found.nonce, 'nonce'),
    maxAge: flow.maxAge,
    startedBy: flow.by ?? null,
  }
}

/** Whether callbacks go through a proxy (row 203); not with form_post, whose answer cannot be forwarded by a redirect. */
export function proxyInUse(ctx: Context, provider: OAuthProvider): boolean {
  return proxyOf(ctx, provider) !== undefined
}

/** Base URL of the redirect proxy, without trailing slash. */
export function proxyOf(ctx: Context, provider: OAuthProvider): string | undefined {
  const proxy = provider.redirectProxyUrl ?? ctx.app.config.redirectProxyUrl
  return proxy === undefined || proxy === '' || isFormPost(provider) ? undefined : proxy.replace(/\/$/, '')
}

async function takeCode(ctx: Context, provider: OAuthProvider, params: URLSearchParams): Promise<Flow> {
  const code = params.get('code') ?? ''
  if (code !== '' && !(await ctx.once.take(`code:${await idOf(`${provider.id} ${code}`)}`, flowLifetime)))
    throw invalid(provider, 'was used before')
  return { state: undefined, verifier: undefined, nonce: undefined, maxAge: undefined, startedBy: null }
}

function needed(provider: OAuthProvider, flow: Entry, entry: Entry | undefined, check: 'pkce' | 'nonce'): string | undefined {
  if (!flow.checks?.includes(check)) return undefined
  if (entry?.value === undefined || entry.provider !== provider.id)
    throw invalid(provider, `comes without the ${check} cookie of its sign-in`)
  return entry.value
}

function invalid(provider: OAuthProvider, what: string): InvalidCheck {
  return new InvalidCheck(`The callback of provider "${provider.id}" ${what}.`, { cause: { provider: provider.id } })
}

async function add(ctx: Context, kind: Kind, entry: Entry): Promise<void> {
  const live = (await read(ctx, kind)).filter(({ created }) => created + flowLifetime > seconds(ctx))
  await write(ctx, kind, [...live, entry].slice(-maxFlows))
}

async function remove(ctx: Context, kind: Kind, id: string): Promise<Entry | undefined> {
  const entries = await read(ctx, kind)
  const entry = entries.find((candidate) => equal(candidate.id, id))
  const rest = entries.filter((candidate) => candidate !== entry)
  // A lone flow ends with a failed answer (row 89); with several, nobody knows whose answer it was.
  if (rest.length === 0 || (entry === undefined && rest.length === 1)) ctx.deleteCookie(ctx.cookies[kind].name, ctx.cookies[kind].options)
  else if (entry) await write(ctx, kind, rest, 'always')
  return entry
}

async function read(ctx: Context, kind: Kind): Promise<Entry[]> {
  const { name } = ctx.cookies[kind]
  const sealed = ctx.cookie(name)
  const flows = sealed ? (await ctx.open(name, sealed))?.['flows'] : undefined
  return Array.isArray(flows) ? (flows as Entry[]) : []
}

async function write(ctx: Context, kind: Kind, entries: readonly Entry[], when?: 'always'): Promise<void> {
  const { name, options } = ctx.cookies[kind]
  let kept = entries
  let sealed = await ctx.seal(name, { flows: kept }, flowLifetime)
  // Browsers drop a cookie that is too long: the oldest tab gives way.
  while (encodeURIComponent(sealed).length > maxCookie && kept.length > 1) {
    kept = kept.slice(1)
    sealed = await ctx.seal(name, { flows: kept }, flowLifetime)
  }
  // A POST of the provider is cross-site: Lax cookies would stay at home (row 87).
  const crossSite = kept.some(({ post }) => post) ? ({ sameSite: 'none', secure: true } as const) : {}
  ctx.setCookie(name, sealed, { ...options, ...crossSite, expires: new Date(ctx.runtime.now() + flowLifetime * 1000) }, when)
}

function seconds(ctx: Context): number {
  return Math.floor(ctx.runtime.now() / 1000)
}

async function idOf(state: string): Promise<string> {
  return toBase64Url(await sha256(state))
}
