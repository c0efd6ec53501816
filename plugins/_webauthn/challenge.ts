/**
 * The challenge cookie: sealed, bound to its provider, 15 minutes, each challenge good for one answer (D12, D35, row 246).
 * It holds the newest five ceremonies, because autofill begins one in every tab that shows a sign-in page.
 */
import { type Context, InvalidCheck, type ProviderOf, type User } from 'authkernel/kernel'
import { type CredentialAnswer, challengeOf } from './credential.ts'

/** A ceremony that has begun. */
export interface Pending {
  challenge: string
  provider: string
  /** Seconds since the epoch. */
  until: number
  /** Whose passkey is being registered. */
  register?: Registration
}
/** A signed-in user by id, or what is known of a new one. */
export type Registration = { userId: string } | { user: User }

const purpose = 'webauthn.challenge'
const lifetime = 900
const maxPending = 5
// A cookie holds 4096 bytes with its name and attributes.
const maxSealed = 3_800

/** Remembers a challenge in the browser. */
export async function keepChallenge(
  ctx: Context,
  provider: ProviderOf<'webauthn'>,
  challenge: string,
  register?: Registration,
): Promise<void> {
  const until = seconds(ctx) + lifetime
  const pending: Pending = { challenge, provider: provider.id, until, ...(register && { register }) }
  await write(ctx, [...(await read(ctx)), pending].slice(-maxPending))
}

/**
 * The ceremony that an answer belongs to; it is spent by this call, here and on the server.
 * An answer to an unknown challenge spends the newest one and then fails verification.
 * Throws InvalidCheck when none is pending, it expired, belongs to another provider or was spent before.
 */
export async function useChallenge(ctx: Context, provider: ProviderOf<'webauthn'>, answer: CredentialAnswer | undefined): Promise<Pending> {
  const all = await read(ctx)
  const own = all.filter((one) => one.provider === provider.id)
  const signed = answer && challengeOf(answer)
  const used = own.find((one) => one.challenge === signed) ?? own.at(-1)
  await write(ctx, used ? all.filter((one) => one !== used) : all, 'always')
  if (!used)
    throw new InvalidCheck(
      `No challenge of provider "${provider.id}" is pending in this browser: it expired, was used, or cookies are blocked.`,
    )
  // The cookie is the browser's to keep: only the server can know that a challenge was answered before (replay).
  if (!(await ctx.once.take(`${purpose}:${used.challenge}`, lifetime))) {
    throw new InvalidCheck(`The challenge of provider "${provider.id}" was already used: the answer is a replay, or came twice.`)
  }
  return used
}

async function read(ctx: Context): Promise<Pending[]> {
  const cookie = ctx.cookie(ctx.cookies.webauthnChallenge.name)
  const payload = cookie ? await ctx.open(purpose, cookie) : null
  // Sealed by us for this purpose, so its shape is ours.
  const pending = (payload?.['pending'] ?? []) as Pending[]
  return pending.filter(({ until }) => until > seconds(ctx))
}

async function write(ctx: Context, pending: Pending[], when?: 'always'): Promise<void> {
  const { name, options } = ctx.cookies.webauthnChallenge
  if (pending.length === 0) return ctx.deleteCookie(name, options)
  const sealed = await ctx.seal(purpose, { pending }, lifetime)
  if (sealed.length > maxSealed && pending.length > 1) return write(ctx, pending.slice(1), when)
  ctx.setCookie(name, sealed, { ...options, expires: new Date(ctx.runtime.now() + lifetime * 1000) }, when)
}

function seconds(ctx: Context): number {
  return Math.floor(ctx.now.getTime() / 1000)
}
