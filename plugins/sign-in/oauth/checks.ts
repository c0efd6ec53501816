/**
 * Pending flows: what the browser keeps between the authorization request and its answer (D12, D47). The state cookie holds a sealed
 * list, an entry per tab, with verifier and nonce; an entry is known by the hash of the flow's `state` and used once. The cookies of the
 * other checks hold a mark of each flow, without which its answer counts for nothing.
 */
import { type Context, equal, InvalidCheck, type OIDCCheck, subjectOf } from 'authkernel/kernel'
import { isFormPost } from './endpoints.ts'
import { hashOf } from './hash.ts'
import { type Entry, flowLifetime, type Marked, states } from './lists.ts'
import { hasMark, marksFor, writeMarks } from './marks.ts'
import type { OAuthProvider, StepUp } from './types.ts'

export { flowLifetime } from './lists.ts'

/** What a new flow remembers. */
export interface Started {
  state: string | undefined
  verifier: string | undefined
  nonce: string | undefined
  callbackUrl: string
  /** Seconds since the last authentication that the request allowed. */
  maxAge: number | undefined
  stepUp: StepUp | undefined
}
/** What a flow that came back brings along. */
export interface Flow {
  /** The state parameter; undefined when `checks` is `none`. */
  state: string | undefined
  verifier: string | undefined
  nonce: string | undefined
  maxAge: number | undefined
  stepUp: StepUp | undefined
  /** Who was signed in when it began; null: nobody, or nobody knows. */
  startedBy: string | null
}

const usual: readonly OIDCCheck[] = ['pkce', 'state']

/** Checks in force: `none` counts alone only, and a redirect proxy needs the state (D47). */
export function checksOf(provider: OAuthProvider, proxied: boolean): readonly OIDCCheck[] {
  const { checks } = provider
  if (!checks) return usual
  if (checks.length === 1 && checks[0] === 'none' && !proxied) return checks
  return [...new Set<OIDCCheck>([...checks.filter((check) => check !== 'none'), 'state'])]
}

/** Stores a flow beside those of other tabs. */
export async function remember(ctx: Context, provider: OAuthProvider, started: Started, session: boolean): Promise<void> {
  if (started.state === undefined) return
  const id = await hashOf(started.state)
  const flow: Entry = { provider: provider.id }
  if (isFormPost(provider)) flow.post = true
  if (flow.post && session) flow.session = true
  if (started.callbackUrl !== ctx.origin) flow.callbackUrl = started.callbackUrl
  const by = (ctx.store || started.stepUp) && (await subjectOf(ctx))
  if (by) flow.by = by
  if (started.maxAge !== undefined) flow.maxAge = started.maxAge
  if (started.stepUp) flow.stepUp = started.stepUp
  if (started.verifier !== undefined) flow.verifier = started.verifier
  if (started.nonce !== undefined) flow.nonce = started.nonce
  flow.marks = marksFor(ctx, flow)
  const others = await states.all(ctx)
  await states.add(ctx, id, flow)
  writeMarks(ctx, [flow, ...others], false)
}

/** The flow that a callback belongs to, which stays. */
export async function pendingFlow(ctx: Context, params: URLSearchParams): Promise<Entry | undefined> {
  const id = await hashOf(params.get('state') ?? '')
  return (await states.all(ctx)).find((candidate) => equal(candidate.id, id))
}

/** Finds the flow that a callback belongs to and uses it up, whatever comes of it. Throws InvalidCheck. */
export async function take(ctx: Context, provider: OAuthProvider, params: URLSearchParams): Promise<Flow> {
  if (checksOf(provider, proxyInUse(ctx, provider)).includes('none')) return takeCode(ctx, provider, params)
  const given = params.getAll('state')
  const state = given.length === 1 ? (given[0] ?? '') : ''
  const id = await hashOf(state)
  const flow = await remove(ctx, id)
  if (state === '') throw invalid(provider.id, given.length > 1 ? 'repeats the parameter `state`' : 'has no `state`')
  if (!flow)
    throw invalid(
      provider.id,
      `belongs to no sign-in of the last ${flowLifetime} seconds in this browser: it was opened elsewhere, or the state cookie is gone`,
    )
  // Where this tab wanted to go; the callback-url cookie knows the last tab only.
  ctx.useCallbackUrl(flow.callbackUrl ?? ctx.origin)
  if (flow.provider !== provider.id) throw invalid(provider.id, `answers a sign-in at provider "${flow.provider}"`)
  // Ten parallel copies of one callback make one token request (D35).
  if (!(await ctx.once.take(`state:${id}`, flowLifetime))) throw invalid(provider.id, 'was used before')
  return {
    state,
    verifier: proved(ctx, flow, 'pkce', flow.verifier),
    nonce: proved(ctx, flow, 'nonce', flow.nonce),
    maxAge: flow.maxAge,
    stepUp: flow.stepUp,
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
  if (code !== '' && !(await ctx.once.take(`code:${await hashOf(`${provider.id} ${code}`)}`, flowLifetime)))
    throw invalid(provider.id, 'was used before')
  return { state: undefined, verifier: undefined, nonce: undefined, maxAge: undefined, stepUp: undefined, startedBy: null }
}

/** A value of the flow, which counts only with its mark; undefined: it was begun without. */
function proved(ctx: Context, flow: Entry, check: Marked, value: string | undefined): string | undefined {
  if (value !== undefined && !hasMark(ctx, check, flow)) throw invalid(flow.provider, `comes without the ${check} cookie of its sign-in`)
  return value
}

function invalid(provider: string, what: string): InvalidCheck {
  return new InvalidCheck(`The callback of provider "${provider}" ${what}.`, { cause: { provider } })
}

/** From the browser alone; the server's part is asked of the state. */
async function remove(ctx: Context, id: string): Promise<Entry | undefined> {
  const entries = await states.all(ctx)
  const entry = entries.find((candidate) => equal(candidate.id, id))
  // A lone flow ends with a failed answer (row 89); with several, nobody knows whose answer it was.
  const used = entry ?? (entries.length === 1 ? entries[0] : undefined)
  // Whoever has sent no such cookie has none to lose.
  if (used || states.cookie.get(ctx) !== undefined) await states.drop(ctx, used ? [used.id] : [])
  const left = entries.filter((candidate) => candidate !== used)
  writeMarks(ctx, left, true)
  return entry
}
