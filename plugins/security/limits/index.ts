/** Limits by route, account, address and network, for every sign-in method and for routes of plugins and hosts. */
import { assertOptions, AuthError, type Context, type Kernel, type Plugin } from 'authkernel/kernel'
import { rememberDevice } from 'authkernel/kernel/users'
import { countRequest, declareNotice, type Open } from './attempts.ts'
import { TooManyRequests } from './errors.ts'
import { knownDeviceName, accountNames, limitSubject } from './keys.ts'
import { defaultRules, type LimitRuleFull, type LimitRuleOptions, resolveRules } from './rules.ts'

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
        if (matching.length > 0) open.set(ctx, await countRequest(ctx, matching, await limitSubject(ctx, account)))
      })
      refundOutcomes(kernel, open)
      return { limits: { check: (request, name, about) => checkLimits(kernel, list, request, name, about) } }
    },
  }
}

/** Refunds the attempts of a request that was no failure. */
function refundOutcomes(kernel: Kernel, open: WeakMap<object, Open>): void {
  const refund = async (ctx: Context): Promise<void> => {
    const { taken } = open.get(ctx) ?? {}
    open.delete(ctx)
    await Promise.all((taken ?? []).map((key) => ctx.limit.refund(key)))
  }
  // Only now, and by the names of the user: after a second factor the request of the password is long over, and its fields may have named another one.
  kernel.on('signedIn', async ({ login, ctx }) => {
    await refund(ctx as Context)
    if (login.purpose !== 'signIn' || login.session !== 'new') return
    for (const name of accountNames(login, ctx.store !== undefined)) await rememberDevice(ctx as Context, knownDeviceName(name))
  })
  kernel.on('loginParked', async ({ ctx }) => void (await refund(ctx as Context)))
  kernel.on('signInFailed', async ({ ctx, error }) => {
    // An outage is no wrong guess.
    if (error.status >= 500) await refund(ctx as Context)
  })
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
    await countRequest(ctx, [rule], await limitSubject(ctx, () => account))
    return null
  } catch (error) {
    if (error instanceof TooManyRequests) return Number(error.cause?.['retryAfter'])
    throw error
  }
}
