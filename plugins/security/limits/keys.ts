/** What one request is counted under. */
import { type Context, countedName, type Login, networksOf } from 'authkernel/kernel'
import { isKnownDevice, typedNames } from 'authkernel/kernel/users'
import type { LimitRuleFull } from './rules.ts'

/** Which account and browser a request is about. */
export interface Subject {
  /** The account as it was typed, in one spelling; undefined: none is named. */
  account: string | undefined
  /** Id of the browser, when the account has signed in there before. */
  device: string | undefined
}
/** One count. */
interface Count {
  key: string
  max: number
}

/** Names of the account and of its browser. `named` is how the host says whose account it is. */
export async function limitSubject(ctx: Context, named?: (ctx: Context) => unknown): Promise<Subject> {
  const own = named ? await named(ctx) : undefined
  const typed = own ?? (await typedNames(ctx))[0]
  if (typeof typed !== 'string' || typed === '') return { account: undefined, device: undefined }
  const account = countedName(typed)
  const provider = ctx.params['provider'] ?? ''
  // Names under which the sign-in types remember a browser, and that of this plugin.
  for (const name of [knownDeviceName(account), `credentials ${provider} ${account}`, `mail ${account}`]) {
    const device = await isKnownDevice(ctx, name)
    if (device) return { account, device }
  }
  return { account, device: undefined }
}

/** The name under which a browser is known for an account. */
export function knownDeviceName(account: string): string {
  return `limits ${account}`
}

/**
 * The names of a user who has signed in: of the user, never what was typed, which may name another user. An address counts when it is proved, or
 * where no store says so; the account's id where this site checks what was typed. A provider may call an account whatever it likes.
 */
export function accountNames({ user, account }: Login, hasStore: boolean): string[] {
  const { email, emailVerified } = user as { email?: string | null; emailVerified?: Date | null }
  const own = ['credentials', 'phone', 'codes', 'email'].includes(account.type) ? account.providerAccountId : undefined
  const isProved = emailVerified || (!hasStore && own !== undefined)
  const names = [isProved ? email : undefined, own]
  return [...new Set(names.flatMap((name) => (typeof name === 'string' && name !== '' ? [countedName(name)] : [])))]
}

/** The counts of a rule for this request; none when the rule is for accounts and no account is named. */
export async function countsOf(ctx: Context, rule: LimitRuleFull, { account, device }: Subject): Promise<Count[]> {
  const parts = [`limits ${rule.name}`]
  if (rule.by.includes('route')) parts.push(`${ctx.route?.method} ${ctx.route?.path}`)
  if (rule.by.includes('account')) {
    if (account === undefined) return []
    parts.push(await digestKey(ctx, account))
    if (rule.exempt && device) parts.push(`device ${device}`)
  }
  if (rule.by.includes('address')) parts.push(await digestKey(ctx, ctx.clientAddress || 'unknown'))
  const key = parts.join(' ')
  if (!rule.by.includes('network')) return [{ key, max: rule.max }]
  const networks = networksOf(ctx.clientAddress)
  return Promise.all(
    networks.map(async (network) => ({ key: `${key} ${await digestKey(ctx, network.key)}`, max: rule.max * network.scale })),
  )
}

async function digestKey(ctx: Context, value: string): Promise<string> {
  return (await ctx.digest('limits', value)).slice(0, 32)
}
