/**
 * The challenge cookie: sealed, bound to its provider, 15 minutes, each challenge good for one answer (D12, row 246).
 * It holds the newest five ceremonies, because autofill begins one in every tab that shows a sign-in page.
 */
import { type Context, InvalidCheck, type PendingEntry, type ProviderOf } from 'authkernel/kernel'
import { type Ceremony, challenges } from './pending.ts'

/** A ceremony that an answer may end. */
export type PendingChallenge = PendingEntry<Ceremony> & { challenge: string }

/** Remembers a challenge in the browser. */
export async function keepChallenge(
  ctx: Context,
  provider: ProviderOf<'webauthn'>,
  challenge: string,
  registration: Omit<Ceremony, 'provider'> = {},
): Promise<void> {
  await challenges.add(ctx, challenge, { provider: provider.id, ...registration })
}

/**
 * The ceremony that an answer belongs to, by the challenge that it says is `signed`; it is spent by this call, here and on the server.
 * An answer to an unknown challenge spends the newest one and then fails verification.
 * Throws InvalidCheck when none is pending, it expired, belongs to another provider or was spent before.
 */
export async function useChallenge(ctx: Context, provider: ProviderOf<'webauthn'>, signed: string | undefined): Promise<PendingChallenge> {
  const own = (await challenges.all(ctx)).filter((one) => one.provider === provider.id)
  const used = own.find(({ id }) => id === signed) ?? own[0]
  if (!used) {
    await challenges.drop(ctx, [])
    throw new InvalidCheck(
      `No challenge of provider "${provider.id}" is pending in this browser: it expired, was used, or cookies are blocked.`,
    )
  }
  if (!(await challenges.take(ctx, used.id))) {
    throw new InvalidCheck(`The challenge of provider "${provider.id}" was already used: the answer is a replay, or came twice.`)
  }
  return { ...used, challenge: used.id }
}
