/** Limits on signing in: per address of the client, and per client and account. 429 with Retry-After; who gets in is not counted. */
import { type Attempt, beginAttempt, type Bucket, type Context, HttpError, type LimitRule, type Plugin } from 'authkernel/kernel'

declare module 'authkernel/kernel' {
  interface Events {
    signInLimited: { provider: string; retryAfter: number }
  }
}
export interface RateLimitOptions {
  /** All attempts of one address. */
  address?: LimitRule
  /** Attempts of one address at one account. */
  account?: LimitRule
  /** Attempts at one account from anywhere: high, since others can use it up. */
  everywhere?: LimitRule
}

export function rateLimitPlugin({
  address = { max: 30, seconds: 600 },
  account = { max: 5, seconds: 600 },
  everywhere = { max: 100, seconds: 3600 },
}: RateLimitOptions = {}): Plugin {
  return {
    name: 'rate-limit',
    requires: ['limit'],
    setup(kernel) {
      const open = new WeakMap<object, Attempt>()

      kernel.hook('request', async ({ ctx }) => {
        const provider = ctx.params['provider']
        if (ctx.route?.flow === undefined || ctx.request.method === 'GET' || provider === undefined) return undefined
        const from = ctx.clientAddress ?? 'unknown'
        const who = await accountOf(ctx)
        const buckets: Bucket[] = [{ key: `sign-in from ${from}`, rule: address }]
        if (who) buckets.push({ key: `sign-in of ${who} from ${from}`, rule: account }, { key: `sign-in of ${who}`, rule: everywhere })
        const attempt = await beginAttempt(ctx, buckets)
        if (attempt.refused) {
          const { retryAfter } = attempt.refused
          await ctx.emit('signInLimited', { provider, retryAfter })
          throw new HttpError(429, 'Too many attempts. Try again later.', { 'retry-after': String(retryAfter) })
        }
        open.set(ctx, attempt)
        return undefined
      })
      kernel.on('signInFailed', ({ ctx }) => open.get(ctx)?.end(true))
      for (const done of ['signedIn', 'loginParked'] as const) kernel.on(done, ({ ctx }) => open.get(ctx)?.end(false))
    },
  }
}

/** The first field of the provider's form that is no password, hashed: what was typed is not stored. */
async function accountOf(ctx: Context): Promise<string | undefined> {
  const provider = await ctx.provider().catch(() => undefined)
  const fields = Object.entries((provider && ctx.flow(provider).form?.(provider)?.fields) ?? {})
  const name = fields.find(([, { type }]) => type !== 'password')?.[0]
  const value = name === undefined ? undefined : (await ctx.body())[name]
  return typeof value === 'string' && value !== '' ? ctx.digest('rate-limit', value.trim().toLowerCase()) : undefined
}
