/** Options of `agentsPlugin`, with their defaults, and their checks. */
import { type AnyContext, assertOptions, AuthError, type Awaitable, type User } from 'authkernel/kernel'

/** What an agent may use up. */
export interface AgentBudget {
  /** Requests at most, 1 to 1,000,000,000. */
  requests: number
  /** Days that it lasts, 1 to 366. */
  days: number
}
/** Whether the owner of an agent has a right. */
export interface AgentScopeQuestion {
  user: User
  agentId: string
  scope: string
  ctx: AnyContext
}
/** What `agentsPlugin` takes. */
export interface AgentsOptions {
  /** What agents can be given. At least one. */
  scopes: readonly string[]
  /** Those of `scopes` that the owner approves for each action; default: none. */
  approve?: readonly string[] | undefined
  /** Whether the owner has the right now, asked when an agent is made and at each use. Default: every scope. */
  can?: ((question: AgentScopeQuestion) => Awaitable<boolean>) | undefined
  /** What an agent gets by default, and the most that an owner may give; default 10,000 requests in 30 days. */
  budget?: AgentBudget | undefined
  /** Agents of one user; default 20. */
  max?: number | undefined
  /** Seconds that the credential before a rotation lives on, 0 to 86400; default 0. */
  overlap?: number | undefined
  /** Seconds that an approval is waited for, and that an approved action may be done, 60 to 86400; default 600. */
  approvalAge?: number | undefined
  /** Actions of one agent that may wait for approval; default 10. */
  maxPending?: number | undefined
  /** Highest age in seconds of the owner's proof when an agent is made, rotated, started or gets a budget, and when an action is approved; 1 to 3600, default 300. */
  proofAge?: number | undefined
  /** Adds a section to the account page; default true. */
  accountSection?: boolean | undefined
}
/** With the defaults in place. */
export interface ResolvedOptions extends Pick<AgentsOptions, 'can'> {
  readonly scopes: readonly string[]
  readonly approve: readonly string[]
  readonly budget: AgentBudget
  readonly max: number
  readonly overlap: number
  readonly approvalAge: number
  readonly maxPending: number
  readonly proofAge: number
  readonly accountSection: boolean
}

const scopeSyntax = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/

/** Throws AuthError that names the option. */
export function resolveOptions(options: AgentsOptions): ResolvedOptions {
  assertOptions('Plugin "agents"', options ?? {}, {
    scopes: true,
    approve: true,
    can: true,
    budget: true,
    max: true,
    overlap: true,
    approvalAge: true,
    maxPending: true,
    proofAge: true,
    accountSection: true,
  })
  const { scopes, approve = [], budget = { requests: 10_000, days: 30 } } = options ?? {}
  if (!Array.isArray(scopes) || scopes.length === 0) refuseOption('`scopes` is missing: list what agents can be given.')
  const wrong = scopes.find((scope) => typeof scope !== 'string' || !scopeSyntax.test(scope))
  if (wrong !== undefined) refuseOption(`\`scopes\` has ${JSON.stringify(wrong)}, which is no scope (RFC 6749 section 3.3).`)
  const unknown = approve.find((scope) => !scopes.includes(scope))
  if (unknown !== undefined) refuseOption(`\`approve\` has "${unknown}", which \`scopes\` does not have.`)
  assertOptions('Plugin "agents"', budget, { requests: true, days: true }, 'budget')
  if (!isBudget(budget)) refuseOption('`budget` must have `requests`, 1 to 1000000000, and `days`, 1 to 366.')
  const { max = 20, overlap = 0, approvalAge = 600, maxPending = 10, proofAge = 300, accountSection = true, can } = options
  if (!(Number.isInteger(max) && max >= 1)) refuseOption('`max` must be a whole number of at least 1.')
  if (!(overlap >= 0 && overlap <= 86_400)) refuseOption('`overlap` must be 0 to 86400 seconds.')
  if (!(approvalAge >= 60 && approvalAge <= 86_400)) refuseOption('`approvalAge` must be 60 to 86400 seconds.')
  if (!(Number.isInteger(maxPending) && maxPending >= 1)) refuseOption('`maxPending` must be a whole number of at least 1.')
  if (!(proofAge >= 1 && proofAge <= 3600)) refuseOption('`proofAge` must be 1 to 3600 seconds.')
  return { scopes: [...new Set(scopes)], approve, budget, max, overlap, approvalAge, maxPending, proofAge, accountSection, can }
}

/** Whether it is a budget at all. */
export function isBudget({ requests, days }: AgentBudget): boolean {
  return Number.isInteger(requests) && requests >= 1 && requests <= 1e9 && Number.isInteger(days) && days >= 1 && days <= 366
}

function refuseOption(what: string): never {
  throw new AuthError(`Plugin "agents": ${what}`)
}
