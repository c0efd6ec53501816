/** The checks: the store, the mail server, the issuers of providers, and how far the own clock is off. */
import { type AnyContext, boundedFetch, type Context, type JobContext, type Provider } from 'authkernel/kernel'

/** Result of one check, in the words of the draft `application/health+json`: `pass`, `warn` or `fail`. */
export type HealthStatus = 'pass' | 'warn' | 'fail'
/** One thing that was looked at. */
export interface HealthCheck {
  /** `store`, `mail`, `issuer:google`, `clock`, or the name of a check of the host. */
  name: string
  status: HealthStatus
  /** Why it is not well, for clients that may see details. Without secrets. */
  message?: string
  /** Milliseconds that it took. */
  took: number
}
/** A check of the host: throws or rejects when something fails; a text is a warning. */
export type OwnCheck = (ctx: AnyContext) => unknown

// A hook that a plugin may answer although this one is not there.
type Ask = (name: string, message: object) => Promise<Record<string, OwnCheck>>

// Milliseconds by which the clock may be off before tokens are refused.
const maxSkew = 60_000

/**
 * Runs all checks at once; each ends by the deadlines of the kernel. Plugins add theirs by the hook `health`. `skip` names kinds that are not looked
 * at, `issuer` for one.
 */
export async function runChecks(
  ctx: JobContext | Context,
  own: Readonly<Record<string, OwnCheck>>,
  skip: readonly 'issuer'[] = [],
): Promise<HealthCheck[]> {
  const issuers = skip.includes('issuer') ? [] : [...ctx.app.providers.values()].filter(({ type }) => type === 'oidc')
  const ofPlugins = ctx.has('hook', 'health') ? await (ctx.ask as Ask)('health', { checks: {} }) : {}
  const skews: number[] = []
  const checks = await Promise.all([
    ...(ctx.store ? [runCheck('store', () => askStore(ctx))] : []),
    ...(ctx.app.services.mailTransport?.verify ? [runCheck('mail', () => askMail(ctx))] : []),
    ...issuers.map((provider) => runCheck(`issuer:${provider.id}`, async () => void skews.push(...(await askIssuer(ctx, provider))))),
    ...Object.entries({ ...ofPlugins, ...own }).map(([name, check]) => runCheck(name, () => check(ctx))),
  ])
  const skew = skews.sort((a, b) => Math.abs(a) - Math.abs(b))[0]
  if (skew === undefined) return checks
  const off = Math.abs(skew) > maxSkew
  const message = `The clock differs by ${Math.round(skew / 1000)} s from those of the issuers.`
  return [...checks, { name: 'clock', status: off ? 'warn' : 'pass', took: 0, ...(off && { message }) }]
}

async function runCheck(name: string, work: () => unknown): Promise<HealthCheck> {
  const started = performance.now()
  const took = (): number => Math.round(performance.now() - started)
  try {
    const said = await work()
    return typeof said === 'string' ? { name, status: 'warn', message: said, took: took() } : { name, status: 'pass', took: took() }
  } catch (error) {
    return { name, status: 'fail', message: error instanceof Error ? error.message : String(error), took: took() }
  }
}

// A read like those of sign-ins, for a user who does not exist.
async function askStore({ store }: AnyContext): Promise<void> {
  await store?.getUserByEmail('health-check@invalid.invalid')
}

async function askMail(ctx: AnyContext): Promise<void> {
  const { deadlines } = ctx.app.config
  await ctx.app.services.mailTransport?.verify?.(AbortSignal.timeout(deadlines.network))
}

/** Asks for the discovery document. Answers by how many milliseconds the own clock is ahead. */
async function askIssuer(ctx: AnyContext, provider: Provider): Promise<number[]> {
  const { issuer, wellKnown } = provider as { issuer?: string; wellKnown?: string }
  const url = wellKnown ?? `${issuer?.replace(/(?<!\/)\/+$/, '')}/.well-known/openid-configuration`
  const { deadlines, limits } = ctx.app.config
  const send = boundedFetch({ fetch: ctx.runtime.fetch, deadline: deadlines.network, limit: limits.providerResponse })
  const before = ctx.runtime.now()
  const answer = await send(url, { headers: { Accept: 'application/json' } })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`)
  const { issuer: said } = (await answer.json()) as { issuer?: unknown }
  if (issuer !== undefined && said !== issuer && !String(said).includes('{'))
    throw new Error(`${url} calls itself ${JSON.stringify(said)}.`)
  const date = Date.parse(answer.headers.get('date') ?? '')
  // Half of the way there and back; dates have whole seconds.
  return Number.isNaN(date) ? [] : [(before + ctx.runtime.now()) / 2 - date - 500]
}
