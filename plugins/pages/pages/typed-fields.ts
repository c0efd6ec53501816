/** What a user typed before a wrong password: the sign-in page shows it again, so that only the password is typed twice. */
import { type AuthError, type Context, type CookieHandle, createCookie } from 'authkernel/kernel'

/** Provider and fields. */
export interface TypedFields {
  provider: string
  values: Readonly<Record<string, string>>
}

/** Seconds that it is kept. */
const seconds = 300
/** Sealed: what a user typed is readable by the server alone, and an attacker cannot plant one. */
export const typedCookie: CookieHandle = /* @__PURE__ */ createCookie('typed', { path: 'base', maxAge: seconds })

const maxLength = 256
// Neither secrets nor codes, which must not lie about in a browser, sealed or not.
const keptTypes = new Set(['text', 'email', 'tel', 'search', 'url'])

/** Keeps what was typed when a form of a browser failed and the sign-in page follows. */
export async function keepTyped(ctx: Context, error: AuthError): Promise<void> {
  const { headers, method } = ctx.request
  if (error.kind !== 'signIn' || method !== 'POST' || !ctx.route?.flow || ctx.app.config.pages.signIn !== undefined) return
  if (!headers.get('accept')?.includes('text/html') || headers.has('x-auth-return-redirect')) return
  const provider = await ctx.provider()
  const body = await ctx.body()
  const values: Record<string, string> = {}
  for (const [name, { type = 'text', autocomplete }] of Object.entries(ctx.flow(provider).form?.(provider).fields ?? {})) {
    const value = body[name]
    if (!keptTypes.has(type) || autocomplete === 'one-time-code') continue
    if (typeof value === 'string' && value !== '' && value.length <= maxLength) values[name] = value
  }
  if (Object.keys(values).length === 0) return
  typedCookie.set(ctx, await typedCookie.seal(ctx, { provider: provider.id, values }, seconds), { survivesFailure: true })
}

/** What was kept; it is shown once. */
export async function takeTyped(ctx: Context): Promise<TypedFields | undefined> {
  if (typedCookie.get(ctx) === undefined) return undefined
  typedCookie.delete(ctx)
  return (await typedCookie.open<TypedFields>(ctx)) ?? undefined
}
