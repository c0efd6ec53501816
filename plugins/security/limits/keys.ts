/** What one request is counted under. */
import { type Context, isKnownDevice, networksOf, type Provider } from 'authkernel/kernel'
import type { LimitRuleFull } from './rules.ts'

/** Who is asked about. */
export interface Subject {
  /** The account as it was typed, in one spelling; undefined: nobody is named. */
  account: string | undefined
  /** Id of the browser, when the account has signed in there before. */
  device: string | undefined
}
/** One count. */
export interface Count {
  key: string
  max: number
}

const fields = ['email', 'username', 'identifier', 'phone', 'name', 'login']

/** Names of the account and of its browser. `named` is how the host says whose account it is. */
export async function subjectOf(ctx: Context, named?: (ctx: Context) => unknown): Promise<Subject> {
  const given = named ? await named(ctx) : undefined
  const typed = given ?? (await typedName(ctx))
  if (typeof typed !== 'string' || typed === '') return { account: undefined, device: undefined }
  const account = typed.normalize('NFKC').trim().toLowerCase().slice(0, 256)
  const provider = ctx.params['provider'] ?? ''
  // Names under which the sign-in types remember a browser, and that of this plugin.
  for (const name of [deviceName(account), `credentials ${provider} ${account}`, `mail ${account}`]) {
    const device = await isKnownDevice(ctx, name)
    if (device) return { account, device }
  }
  return { account, device: undefined }
}

export function deviceName(account: string): string {
  return `limits ${account}`
}

/** The counts of a rule for this request; none when the rule is for accounts and nobody is named. */
export async function countsOf(ctx: Context, rule: LimitRuleFull, { account, device }: Subject): Promise<Count[]> {
  const parts = [`limits ${rule.name}`]
  if (rule.by.includes('route')) parts.push(`${ctx.route?.method} ${ctx.route?.path}`)
  if (rule.by.includes('account')) {
    if (account === undefined) return []
    parts.push(await keyed(ctx, account))
    if (rule.exempt && device) parts.push(`device ${device}`)
  }
  if (rule.by.includes('address')) parts.push(await keyed(ctx, ctx.clientAddress || 'unknown'))
  const key = parts.join(' ')
  if (!rule.by.includes('network')) return [{ key, max: rule.max }]
  const networks = networksOf(ctx.clientAddress)
  return Promise.all(networks.map(async (network) => ({ key: `${key} ${await keyed(ctx, network.key)}`, max: rule.max * network.scale })))
}

async function keyed(ctx: Context, value: string): Promise<string> {
  return (await ctx.digest('limits', value)).slice(0, 32)
}

async function typedName(ctx: Context): Promise<unknown> {
  if (ctx.request.method === 'GET') return undefined
  // A body that cannot be read names nobody; the route says what is wrong with it.
  const body = await ctx.body().catch((): Record<string, unknown> => ({}))
  const declared = ctx.params['provider'] === undefined ? undefined : await ctx.provider().catch(() => undefined)
  const found = [...ownFields(declared), ...fields].find((name) => body[name] !== undefined && body[name] !== null && body[name] !== '')
  const value = found === undefined ? undefined : body[found]
  // JSON may wrap a name, ["ann"], which many a query reads as the name: it counts as the name.
  return value === undefined || typeof value === 'string' ? value : JSON.stringify(value).replace(/[[\]{}"]/g, '')
}

function ownFields(provider: Provider | undefined): string[] {
  const { credentials = {} } = (provider ?? {}) as { credentials?: Record<string, { type?: string }> }
  const name = Object.entries(credentials).find(([, { type }]) => type !== 'password')?.[0]
  return name === undefined ? [] : [name]
}
