/**
 * Pending flows: what the browser keeps between the authorization request and its answer (D12, D47). The state cookie holds a sealed
 * list, an entry per tab, with verifier and nonce; an entry is known by the hash of the flow's `state` and used once. The cookies of the
 * other checks hold a mark of each flow, without which its answer counts for nothing.
 */
import { type Awaitable, bytes, type Context, equal, InvalidCheck, type OIDCCheck, toBase64Url } from 'authkernel/kernel'
import { nodeCrypto } from 'authkernel/kernel/protocols'
import {
  flowLifetime,
  isCrossSite,
  markCookies,
  type MarkedCheck,
  markedChecks,
  type Marks,
  type PendingFlow,
  pendingFlows,
  type StepUp,
} from './pending-flows.ts'
import type { OAuthProvider } from './provider.ts'

/** What the answer to a new request will be held against. */
export interface NewFlow {
  state: string | undefined
  verifier: string | undefined
  nonce: string | undefined
  callbackUrl: string
  /** Seconds since the last authentication that the request allowed. */
  maxAge: number | undefined
  stepUp: StepUp | undefined
  /** The answer comes by a cross-site POST. */
  post: boolean
  /** The browser has a session. */
  session: boolean
  /** Subject of that session, where the answer will be held against it. */
  startedBy: string | null
}
/** What a flow that came back brings along. */
export interface Flow {
  /** The state parameter; undefined when `checks` is `none`. */
  state: string | undefined
  verifier: string | undefined
  nonce: string | undefined
  maxAge: number | undefined
  stepUp: StepUp | undefined
  /** Subject of the session when it began; null: none, or unknown. */
  startedBy: string | null
}

const usualChecks: readonly OIDCCheck[] = ['pkce', 'state']

/** Checks in force: `none` counts alone only, and a redirect proxy needs the state (D47). */
export function checksOf(provider: OAuthProvider, proxied: boolean): readonly OIDCCheck[] {
  const { checks } = provider
  if (!checks) return usualChecks
  if (checks.length === 1 && checks[0] === 'none' && !proxied) return checks
  return [...new Set<OIDCCheck>([...checks.filter((check) => check !== 'none'), 'state'])]
}

/** Stores a flow beside those of other tabs. */
export async function storeFlow(ctx: Context, provider: OAuthProvider, started: NewFlow): Promise<void> {
  if (started.state === undefined) return
  const id = await hashText(started.state)
  const flow: PendingFlow = { provider: provider.id }
  if (started.post) flow.post = true
  if (started.post && started.session) flow.session = true
  if (started.callbackUrl !== ctx.origin) flow.callbackUrl = started.callbackUrl
  if (started.startedBy !== null) flow.by = started.startedBy
  if (started.maxAge !== undefined) flow.maxAge = started.maxAge
  if (started.stepUp) flow.stepUp = started.stepUp
  if (started.verifier !== undefined) flow.verifier = started.verifier
  if (started.nonce !== undefined) flow.nonce = started.nonce
  flow.marks = createMarks(ctx, flow)
  const others = await pendingFlows.all(ctx)
  await pendingFlows.add(ctx, id, flow)
  writeMarks(ctx, [flow, ...others], false)
}

/** The flow that a callback belongs to, which stays. */
export async function findFlow(ctx: Context, params: URLSearchParams): Promise<PendingFlow | undefined> {
  const id = await hashText(params.get('state') ?? '')
  return (await pendingFlows.all(ctx)).find((candidate) => equal(candidate.id, id))
}

/** Finds the flow that a callback belongs to and uses it up, whatever comes of it. Throws InvalidCheck. */
export async function takeFlow(ctx: Context, provider: OAuthProvider, params: URLSearchParams, proxied: boolean): Promise<Flow> {
  if (checksOf(provider, proxied).includes('none')) return useCodeOnce(ctx, provider, params)
  const given = params.getAll('state')
  const state = given.length === 1 ? (given[0] ?? '') : ''
  const id = await hashText(state)
  const flow = await removeFlow(ctx, id)
  if (state === '') throw invalidCallback(provider.id, given.length > 1 ? 'repeats the parameter `state`' : 'has no `state`')
  if (!flow)
    throw invalidCallback(
      provider.id,
      `belongs to no sign-in of the last ${flowLifetime} seconds in this browser: it was opened elsewhere, or the state cookie is gone`,
    )
  // Where this tab wanted to go; the callback-url cookie knows the last tab only.
  ctx.useCallbackUrl(flow.callbackUrl ?? ctx.origin)
  if (flow.provider !== provider.id) throw invalidCallback(provider.id, `answers a sign-in at provider "${flow.provider}"`)
  // Ten parallel copies of one callback make one token request.
  if (!(await ctx.once.take(`state:${id}`, flowLifetime))) throw invalidCallback(provider.id, 'was used before')
  return {
    state,
    verifier: requireMark(ctx, flow, 'pkce', flow.verifier),
    nonce: requireMark(ctx, flow, 'nonce', flow.nonce),
    maxAge: flow.maxAge,
    stepUp: flow.stepUp,
    startedBy: flow.by ?? null,
  }
}

async function useCodeOnce(ctx: Context, provider: OAuthProvider, params: URLSearchParams): Promise<Flow> {
  const code = params.get('code') ?? ''
  if (code !== '' && !(await ctx.once.take(`code:${await hashText(`${provider.id} ${code}`)}`, flowLifetime)))
    throw invalidCallback(provider.id, 'was used before')
  return { state: undefined, verifier: undefined, nonce: undefined, maxAge: undefined, stepUp: undefined, startedBy: null }
}

/** From the browser alone; the server's part is asked of the state. */
async function removeFlow(ctx: Context, id: string): Promise<PendingFlow | undefined> {
  const entries = await pendingFlows.all(ctx)
  const entry = entries.find((candidate) => equal(candidate.id, id))
  // A lone flow ends with a failed answer (row 89); with several it is unknown whose answer it was.
  const used = entry ?? (entries.length === 1 ? entries[0] : undefined)
  // A browser that sent no such cookie has none to lose.
  if (used || pendingFlows.cookie.get(ctx) !== undefined) await pendingFlows.drop(ctx, used ? [used.id] : [])
  const left = entries.filter((candidate) => candidate !== used)
  writeMarks(ctx, left, true)
  return entry
}

function invalidCallback(provider: string, what: string): InvalidCheck {
  return new InvalidCheck(`The callback of provider "${provider}" ${what}.`, { cause: { provider } })
}

/** A mark for each check whose value the flow has. */
function createMarks(ctx: Context, { verifier, nonce }: PendingFlow): Marks {
  const marks: Marks = {}
  const mark = (): string => toBase64Url(ctx.runtime.random(16))
  if (verifier !== undefined) marks.pkce = mark()
  if (nonce !== undefined) marks.nonce = mark()
  return marks
}

/** A value of the flow, which counts only with its mark; undefined: it began without. */
function requireMark(ctx: Context, flow: PendingFlow, check: MarkedCheck, value: string | undefined): string | undefined {
  if (value !== undefined && !hasMark(ctx, check, flow))
    throw invalidCallback(flow.provider, `comes without the ${check} cookie of its sign-in`)
  return value
}

/** Whether the browser brought the mark of a flow along. */
function hasMark(ctx: Context, check: MarkedCheck, { marks }: PendingFlow): boolean {
  const mark = marks?.[check]
  return (
    mark !== undefined &&
    (markCookies[check]
      .get(ctx)
      ?.split('.')
      .some((value) => equal(value, mark)) ??
      false)
  )
}

/** Writes the marks of all flows of the browser; a cookie of a check that none of them has ends. */
function writeMarks(ctx: Context, flows: readonly PendingFlow[], survivesFailure: boolean): void {
  for (const check of markedChecks) {
    const value = flows.flatMap(({ marks }) => marks?.[check] ?? []).join('.')
    if (value === '') {
      if (markCookies[check].get(ctx) !== undefined) markCookies[check].delete(ctx)
      continue
    }
    const foreign = flows.some(isCrossSite) ? ({ sameSite: 'none', secure: true } as const) : {}
    const expires = new Date(ctx.runtime.now() + flowLifetime * 1000)
    markCookies[check].set(ctx, value, { ...foreign, expires, survivesFailure })
  }
}

/**
 * SHA-2 of a text in base64url, or the left half of it: of a verifier (RFC 7636 section 4.2), of a state, of what an ID token is bound to. There is nothing
 * to wait for on Node.
 */
export function hashText(text: string, bits = '256', half = false): Awaitable<string> {
  const cut = (digest: Uint8Array): string => toBase64Url(half ? digest.subarray(0, digest.length / 2) : digest)
  const node = nodeCrypto()
  // Since Node 20.12.
  if (node && !half && 'hash' in node) return node.hash(`sha${bits}`, text, 'base64url')
  if (node) return cut(node.createHash(`sha${bits}`).update(text).digest())
  return crypto.subtle.digest(`SHA-${bits}`, bytes(text)).then((digest) => cut(new Uint8Array(digest)))
}
