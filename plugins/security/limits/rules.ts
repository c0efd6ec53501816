/** Rules: which requests count, under what, and how many of them may come. */
import { assertOptions, AuthError, type Context, type RouteInfo } from 'authkernel/kernel'

/** What requests are counted by. */
export type LimitBy = 'route' | 'account' | 'address' | 'network'
/**
 * Which requests a rule is for: paths as they are registered (`/callback/:provider`), with a method in front or without (`POST /signin/:provider`),
 * `*` for every route, or a function.
 */
export type LimitRoutes = string | readonly string[] | ((route: RouteInfo, ctx: Context) => boolean)

/** How long a client waits that goes on after `max`, in seconds: `first`, then twice as long each time, and at most `longest`. */
export interface LimitDelay {
  /** Default 2. */
  first?: number
  /** Default 900. */
  longest?: number
}

/** One rule of `limitsPlugin`. */
export interface LimitRuleOptions {
  /** In RateLimit fields, errors and events: letters, digits, `.`, `_` and `-`. Default: what it counts by and its place in the list. */
  name?: string
  /** Default: the routes of a sign-in. `[]`: none, for `auth.limits.check` alone. */
  routes?: LimitRoutes
  /** The counts are kept apart by all of these; `[]`: one count for all. */
  by: LimitBy | readonly LimitBy[]
  /** Requests or failures that are allowed in one window. */
  max: number
  /** Length of the sliding window. */
  seconds: number
  /**
   * `failures`: sign-ins that failed; what succeeds, waits for a second factor or meets an outage is given back. Only callbacks of a sign-in
   * have an outcome, elsewhere all requests count. Default: `failures` for rules by account, else `requests`.
   */
  counts?: 'requests' | 'failures'
  /** Growing delay instead of a lockout. Default: true for `failures`. False: closed until the window has passed. */
  delay?: boolean | LimitDelay
  /** Whether browsers in which the account has signed in before have a separate count. Default: true for rules by account without network and address. */
  exemptKnownDevices?: boolean
  /** Tells the owner of the account by mail, at most once a day. Default false. */
  notice?: boolean
}

/** A rule with its defaults. */
export interface LimitRuleFull {
  readonly name: string
  readonly matches: (ctx: Context) => boolean
  readonly by: readonly LimitBy[]
  readonly max: number
  readonly seconds: number
  readonly failures: boolean
  readonly delay: Required<LimitDelay> | undefined
  readonly exempt: boolean
  readonly notice: boolean
}

/** Guesses of passwords and codes. A name is guarded more closely from one network than from all of them together. */
export const defaultRules: readonly LimitRuleOptions[] = [
  { name: 'account-network', by: ['account', 'network'], max: 10, seconds: 600 },
  { name: 'account', by: 'account', max: 100, seconds: 600, notice: false },
  { name: 'network', by: 'network', max: 1000, seconds: 600 },
]

const kinds: readonly LimitBy[] = ['route', 'account', 'address', 'network']
const ruleOptions = ['name', 'routes', 'by', 'max', 'seconds', 'counts', 'delay', 'exemptKnownDevices', 'notice']

/** Checks rules and fills them in. Throws AuthError with place and option. */
export function resolveRules(rules: readonly LimitRuleOptions[]): LimitRuleFull[] {
  const full = rules.map(resolveRule)
  const twice = full.find(({ name }, at) => full.findIndex((other) => other.name === name) < at)
  if (twice) throw new AuthError(`limitsPlugin: two rules are named "${twice.name}". Give one another \`name\`.`)
  return full
}

function resolveRule(rule: LimitRuleOptions, at: number): LimitRuleFull {
  const fail = (problem: string): never => {
    throw new AuthError(`limitsPlugin: rules[${at}]${problem}`)
  }
  const unknown = Object.keys(rule).find((key) => !ruleOptions.includes(key))
  if (unknown !== undefined) fail(` has "${unknown}", which is no option of a rule. Options: ${ruleOptions.join(', ')}.`)
  const by = typeof rule.by === 'string' ? [rule.by] : rule.by
  if (!Array.isArray(by) || by.some((one) => !kinds.includes(one)))
    fail(`.by must be of ${kinds.join(', ')}, not ${JSON.stringify(rule.by)}.`)
  const whole = (name: 'max' | 'seconds', least: number): void => {
    if (!Number.isSafeInteger(rule[name]) || rule[name] < least)
      fail(`.${name} must be a whole number from ${least}, not ${String(rule[name])}.`)
  }
  whole('max', 0)
  whole('seconds', 1)
  const { name = `${by.join('-') || 'all'}-${at + 1}`, max, seconds, notice = false } = rule
  if (!/^[\w.-]{1,64}$/.test(name)) fail(`.name is ${JSON.stringify(name)}: use letters, digits, ".", "_" and "-".`)
  if (notice && !by.includes('account')) fail('.notice needs `by: "account"`: other counts have no address to write to.')
  const failures = (rule.counts ?? (by.includes('account') ? 'failures' : 'requests')) === 'failures'
  const alone = by.includes('account') && !by.includes('network') && !by.includes('address')
  return {
    name,
    by,
    max,
    seconds,
    notice,
    failures,
    matches: createMatcher(rule.routes),
    delay: delayOf(rule.delay ?? failures),
    exempt: rule.exemptKnownDevices ?? alone,
  }
}

function delayOf(delay: boolean | LimitDelay): Required<LimitDelay> | undefined {
  if (delay === false) return undefined
  if (typeof delay === 'object') assertOptions('Plugin "limits"', delay, { first: true, longest: true }, 'rules.delay')
  return { first: 2, longest: 900, ...(typeof delay === 'object' && delay) }
}

function createMatcher(routes: LimitRoutes | undefined): LimitRuleFull['matches'] {
  if (typeof routes === 'function') return (ctx) => ctx.route !== undefined && routes(ctx.route, ctx)
  // Drawing the page of a sign-in costs nothing; its forms and callbacks do.
  if (routes === undefined) return ({ route }) => route?.flow !== undefined
  const wanted = typeof routes === 'string' ? [routes] : routes
  return ({ route }) =>
    route !== undefined && wanted.some((one) => one === '*' || one === route.path || one === `${route.method} ${route.path}`)
}
