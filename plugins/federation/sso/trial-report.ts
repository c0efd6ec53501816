/** What a test sign-in shows: each check, and what the identity provider said of the user. */
import { type AnyContext, type AuthError, type Profile, redactText, type Row } from 'authkernel/kernel'
import { explainFailure, type FailureCause } from './explain.ts'
import { mapUser, type MappedUser } from './mapping.ts'
import { organizationsOf, placeAddress } from './organizations.ts'
import type { ConnectionRow } from './tables.ts'

/** One check of a test sign-in. */
export interface TrialCheck {
  /** `signature`, `issuer`, `audience`, `recipient`, `time`, `request`, `id`, `email`, `domain`, `role` and others. */
  name: string
  ok: boolean
  /** What was found, what was expected, or what to do; '' where there is nothing to say. */
  detail: string
}
/** The result of a test sign-in. */
export interface TrialReport {
  /** In the order in which they ran; the first that failed is the last one of the protocol. */
  checks: TrialCheck[]
  /** What the identity provider sent; empty where it was not verified. At most 100 names with 20 values of 500 characters. */
  attributes: Record<string, string[]>
  /** What the connection makes of it; null where it was not verified. */
  user: MappedUser | null
  /** Of a failure: a code that pages have a text for, such as `audience` or `replyUrl`; null: none is known. */
  cause: FailureCause | null
}

/** What the libraries have checked when an answer comes through. */
const protocolChecks = {
  saml: ['form', 'request', 'signature', 'destination', 'issuer', 'time', 'audience', 'recipient', 'replay'],
  oidc: ['request', 'discovery', 'token', 'signature', 'issuer', 'audience', 'nonce', 'time'],
} as const

/** The answer came through: what would it give? Nothing is stored of the user. */
export async function reportAnswer(ctx: AnyContext, row: Row<ConnectionRow>, profile: Profile, subject: string): Promise<TrialReport> {
  const user = mapUser(row, profile)
  const checks: TrialCheck[] = protocolChecks[row.type].map((name) => ({ name, ok: true, detail: '' }))
  checks.push({ name: 'id', ok: subject !== '', detail: subject.slice(0, 200) })
  checks.push({
    name: 'email',
    ok: user.email !== null,
    detail: user.email ?? `There is no "${row.mapping.email ?? 'email'}". Add the attribute at the identity provider, or name another one.`,
  })
  if (user.email !== null) checks.push(await checkDomain(ctx, row, user.email))
  checks.push(await checkRole(ctx, row, user.role))
  const failed = checks.find(({ ok }) => !ok)?.name
  const cause = failed === 'id' ? 'subject' : failed === 'email' || failed === 'domain' ? failed : null
  return { checks, attributes: copyAttributes(profile), user, cause }
}

/** The answer was rejected. Passed are the checks that come before the one that failed. */
export function reportFailure(row: Row<ConnectionRow>, error: AuthError): TrialReport {
  const { check } = (error.cause ?? {}) as { check?: unknown }
  const names: readonly string[] = protocolChecks[row.type]
  const failed = typeof check === 'string' ? check : error.type === 'InvalidCheck' ? 'request' : 'answer'
  const passed = names.slice(0, Math.max(names.indexOf(failed), 0)).map((name) => ({ name, ok: true, detail: '' }))
  return { checks: [...passed, describeFailure(failed, error)], attributes: {}, user: null, cause: explainFailure(error) }
}

/** The browser was not sent away: what the connection knows of the identity provider could not be read. */
export function reportStartFailure({ type }: Row<ConnectionRow>, error: AuthError): TrialReport {
  const { check } = (error.cause ?? {}) as { check?: unknown }
  const source = type === 'oidc' ? 'discovery' : 'metadata'
  const failed = describeFailure(typeof check === 'string' ? check : source, error)
  return { checks: [failed], attributes: {}, user: null, cause: explainFailure(error) ?? source }
}

function describeFailure(name: string, error: AuthError): TrialCheck {
  const { fix, expected, received, err, description } = (error.cause ?? {}) as Readonly<Record<string, unknown>>
  const more = err instanceof Error ? err.message : description
  const said = typeof more === 'string' && more !== error.message ? `${error.message} ${more}` : error.message
  const found =
    typeof expected === 'string' ? ` Expected: ${expected}. Received: ${typeof received === 'string' ? received : 'nothing'}.` : ''
  const advice = typeof fix === 'string' && !said.includes(fix) ? ` ${fix}` : ''
  return { name, ok: false, detail: redactText(`${said}${advice}${found}`).slice(0, 900) }
}

async function checkDomain(ctx: AnyContext, row: Row<ConnectionRow>, email: string): Promise<TrialCheck> {
  const place = await placeAddress(ctx, row, email)
  const ok = place === 'own' || (place === 'free' && row.otherDomains)
  const texts = {
    own: email.slice(email.lastIndexOf('@') + 1),
    free: row.otherDomains ? 'The domain is not proved; the connection takes it.' : 'The organization has not proved this domain.',
    foreign: 'The domain belongs to another organization or another connection.',
    none: 'This is no email address.',
  }
  return { name: 'domain', ok, detail: texts[place] }
}

/** A role of the mapping may have been deleted since. */
async function checkRole(ctx: AnyContext, { organizationId, join }: Row<ConnectionRow>, role: string): Promise<TrialCheck> {
  const known = organizationId === '' || !join ? [role] : ((await organizationsOf(ctx)?.listRoles(ctx, organizationId)) ?? [])
  const ok = known.includes(role)
  return { name: 'role', ok, detail: ok ? role : `There is no role "${role}". Change the roles of step 3.` }
}

function copyAttributes(profile: Profile): Record<string, string[]> {
  const entries = Object.entries(profile).slice(0, 100)
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name.slice(0, 300),
      [value]
        .flat()
        .slice(0, 20)
        .map((one) => (typeof one === 'string' ? one : (JSON.stringify(one) ?? '')).slice(0, 500)),
    ]),
  )
}
