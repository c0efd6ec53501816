/** How often a wrong password may be tried. It does not depend on whether the address is known. */
import { beginAttempt, type Bucket, type Context, CredentialsSignin, networksOf } from 'authkernel/kernel'
import { isKnownDevice, rememberDevice } from 'authkernel/kernel/users'

const nameScale = 10
const networkScale = 100

/** Counts a try before it is checked. `check` returns null for a wrong password. Throws CredentialsSignin when there were too many. */
export async function withThrottle<T>(ctx: Context, address: string, check: () => Promise<T | null>): Promise<T | null> {
  const rule = ctx.app.config.throttle.credentials
  if (!rule) return check()
  const attempt = await beginAttempt(ctx, await bucketsOf(ctx, address, rule))
  if (attempt.refused) {
    const { retryAfter } = attempt.refused
    throw new CredentialsSignin('Too many wrong passwords.', { cause: { provider: 'passwords', retryAfter } })
  }
  try {
    const found = await check()
    await attempt.end(found === null)
    if (found !== null) await rememberDevice(ctx, knownDeviceName(address))
    return found
  } catch (error) {
    await attempt.end(false)
    throw error
  }
}

async function bucketsOf(ctx: Context, address: string, { max, seconds }: { max: number; seconds: number }): Promise<Bucket[]> {
  const bucket = (key: string, scale: number): Bucket => ({ key: `passwords ${key}`, rule: { max: max * scale, seconds } })
  const device = await isKnownDevice(ctx, knownDeviceName(address))
  // Strangers who use up the tries of an address do not keep its owner out.
  if (device) return [bucket(`device ${device} ${address}`, 1), bucket(`devices ${address}`, nameScale)]
  const networks = networksOf(ctx.clientAddress)
  return [
    bucket(`pair ${networks[0]?.key} ${address}`, 1),
    bucket(`name ${address}`, nameScale),
    ...networks.map(({ key, scale }) => bucket(`network ${key}`, networkScale * scale)),
  ]
}

function knownDeviceName(address: string): string {
  return `passwords ${address}`
}
