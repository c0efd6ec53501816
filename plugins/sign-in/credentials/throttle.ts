/** How often a client may be wrong. Right credentials and outages do not count, and wrong ones of attackers do not keep the owner out. */
import { beginAttempt, type Bucket, type Context, countedName, CredentialsSignin, networksOf, type ProviderOf } from 'authkernel/kernel'
import { isKnownDevice, rememberDevice } from 'authkernel/kernel/users'

type Credentials = ProviderOf<'credentials'>

// Budgets of a name and of a network, each by itself, as multiples of the budget of the two together.
const nameScale = 10
const networkScale = 100

/**
 * Counts an attempt before it is checked, so that guesses in parallel count too. Null and CredentialsSignin mean wrong; any other error is an
 * outage, whose attempt is given back. Throws CredentialsSignin with `retryAfter` in seconds.
 */
export async function withThrottle<T>(
  ctx: Context,
  provider: Credentials,
  sent: Record<string, unknown>,
  check: () => Promise<T | null>,
): Promise<T | null> {
  if (!ctx.app.config.throttle.credentials) return check()
  const name = typedNameOf(provider, sent)
  const attempt = await beginAttempt(ctx, await bucketsOf(ctx, provider, name))
  if (attempt.refused) {
    const { retryAfter } = attempt.refused
    throw new CredentialsSignin(`Too many wrong credentials for provider "${provider.id}".`, {
      cause: { provider: provider.id, retryAfter },
    })
  }
  try {
    const user = await check()
    await attempt.end(!user)
    if (user && name !== undefined) await rememberDevice(ctx, knownDeviceName(provider, name))
    return user
  } catch (error) {
    await attempt.end(error instanceof CredentialsSignin)
    throw error
  }
}

async function bucketsOf(ctx: Context, provider: Credentials, name: string | undefined): Promise<Bucket[]> {
  const { max, seconds } = ctx.app.config.throttle.credentials as { max: number; seconds: number }
  const bucket = (key: string, scale: number): Bucket => ({ key: `credentials ${provider.id} ${key}`, rule: { max: max * scale, seconds } })
  const device = name === undefined ? undefined : await isKnownDevice(ctx, knownDeviceName(provider, name))
  // A copied cookie, or many of one user, must not open a way around all limits.
  if (device) return [bucket(`device ${device} ${name}`, 1), bucket(`devices ${name}`, nameScale)]
  const networks = networksOf(ctx.clientAddress)
  return [
    bucket(`pair ${networks[0]?.key} ${name ?? ''}`, 1),
    ...(name === undefined ? [] : [bucket(`name ${name}`, nameScale)]),
    ...networks.map(({ key, scale }) => ({ ...bucket(`network ${key}`, networkScale * scale), key: `credentials network ${key}` })),
  ]
}

function knownDeviceName({ id }: Credentials, name: string): string {
  return `credentials ${id} ${name}`
}

// The field that names the user: the first declared one that is not a password.
function typedNameOf({ credentials = {} }: Credentials, sent: Record<string, unknown>): string | undefined {
  const declared = Object.entries(credentials).find(([, { type }]) => type !== 'password')?.[0]
  const field = [declared, 'username', 'email'].find((name) => name !== undefined && sent[name] !== undefined && sent[name] !== null)
  if (field === undefined) return undefined
  const value = sent[field]
  // JSON may wrap a name, ["ann"], which many queries read as the name: it counts as the name.
  const text = typeof value === 'string' ? value : JSON.stringify(value).replace(/[[\]{}"]/g, '')
  return countedName(text)
}
