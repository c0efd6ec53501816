/** Limits by route, account, address and network, for every way to sign in and for routes of plugins and hosts. */
import { assertOptions, AuthError, type Context, type Kernel, type Plugin, rememberDevice } from 'authkernel/kernel'
import { tooMany, TooManyRequests } from './errors.ts'
import { countsOf, deviceName, namesOf, type Subject, subjectOf } from './keys.ts'
import { declareNotice, sendNotice } from './notice.ts'
import { defaultRules, type LimitRuleFull, type LimitRuleOptions, resolveRules } from './rules.ts'
import { takeAttempt, type Taken } from './take.ts'

export { TooManyRequests } from './errors.ts'
export type { LimitBy, LimitDelay, LimitRoutes, LimitRuleOptions } from './rules.ts'

/** Options of `limitsPlugin`. */
export interface LimitsOptions {
  /** Default: failed sign-ins by account in a network (10 in 10 minutes) and by account (100), and requests by network (1000). */
  rules?: readonly LimitRuleOptions[]
  /** Whose account a request is about; undefined: the name that was typed, in `email`, `username`, or the first field of the provider. */
  account?: (ctx: Context) => unknown
}
/** What the plugin puts on `auth`. */
export interface LimitsApi {
  limits: {
    /**
     * Counts a request of the host's own under a rule of this name. Answers the seconds to wait, or null when it may go on. `account` names whose it
     * is, for rules by account.
     */
    check(request: Request, rule: string, about?: { account?: string; clientAddress?: string }): Promise<number | null>
  }
}

/** What a request under way has taken. */
interface Open {
  subject: Subject
  taken: Taken
}

/** Counts requests and failed sign-ins. Beside the built-in throttles of credentials and mails, which stay. */
export function limitsPlugin(options: LimitsOptions = {}): Plugin<LimitsApi> {
  assertOptions('Plugin "limits"', options, { rules: true, account: true })
  const { rules = defaultRules, account } = options
  const list = resolveRules(rules)
  const open = new WeakMap<object, Open>()
  const notices = list.some(({ notice }) => notice)
  return {
    name: 'limits',
    requires: notices ? ['limit', 'store', 'mail', 'mailTransport'] : ['limit'],
    setup(kernel) {
      if (notices) declareNotice(kernel)
      kernel.hook('request', async ({ ctx }) => {
        const matching = list.filter((rule) => rule.matches(ctx))
        if (matching.length > 0) open.set(ctx, await countRequest(ctx, matching, await subjectOf(ctx, account)))
      })
      settleWith(kernel, open)
      return { limits: { check: (request, name, about) => checkLimits(kernel, list, request, name, about) } }
    },
  }
}

/** Gives back what was no failure. */
function settleWith(kernel: Kernel, open: WeakMap<object, Open>): void {
  const giveBack = async (ctx: Context): Promise<void> => {
    const { taken } = open.get(ctx) ?? {}
    open.delete(ctx)
    await Promise.all((taken ?? []).map((key) => ctx.limit.refund(key)))
  }
  // Only now, and by the names of the user: after a second factor the request of the password is long over, and its fields may have named another one.
  kernel.on('signedIn', async ({ login, ctx }) => {
    await giveBack(ctx as Context)
    if (login.purpose !== 'signIn' || login.session !== 'new') return
    for (const name of namesOf(login, ctx.store !== undefined)) await rememberDevice(ctx as Context, deviceName(name))
  })
  kernel.on('loginParked', async ({ ctx }) => void (await giveBack(ctx as Context)))
  kernel.on('signInFailed', async ({ ctx, error }) => {
    // An outage is nobody's wrong guess.
    if (error.status >= 500) await giveBack(ctx as Context)
  })
}

async function countRequest(ctx: Context, rules: readonly LimitRuleFull[], subject: Subject): Promise<Open> {
  const returnable: Taken = []
  const all: Taken = []
  for (const rule of rules) {
    const hasOutcome = rule.failures && ctx.route?.flow === 'callback'
    // The step before has none, and its callback counts: one guess is one count.
    if (rule.failures && ctx.route?.flow === 'signIn') continue
    for (const { key, max } of await countsOf(ctx, rule, subject)) {
      const taken: Taken = []
      const retryAfter = await takeAttempt(ctx, key, max, rule, taken)
      if (retryAfter !== undefined) {
        await Promise.all(all.map((name) => ctx.limit.refund(name)))
        if (rule.notice && subject.account !== undefined) sendNotice(ctx, subject.account)
        throw tooMany(rule, retryAfter)
      }
      all.push(...taken)
      if (hasOutcome) returnable.push(...taken)
    }
  }
  return { subject, taken: returnable }
}

async function checkLimits(
  kernel: Kernel,
  rules: readonly LimitRuleFull[],
  request: Request,
  name: string,
  { account, clientAddress }: { account?: string; clientAddress?: string } = {},
): Promise<number | null> {
  const rule = rules.find((one) => one.name === name)
  if (!rule) throw new AuthError(`limitsPlugin: there is no rule "${name}". Rules: ${rules.map((one) => one.name).join(', ')}.`)
  const ctx = await kernel.contextOf(request, { clientAddress })
  try {
    await countRequest(ctx, [rule], await subjectOf(ctx, () => account))
    return null
  } catch (error) {
    if (error instanceof TooManyRequests) return Number(error.cause?.['retryAfter'])
    throw error
  }
}
