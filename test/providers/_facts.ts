/** What is known about the providers (facts.json), and the small language of its mappings, evaluated independently of the presets. */
import { readFileSync } from 'node:fs'

export interface Endpoint {
  url?: string | null
  params?: Record<string, unknown>
  custom?: { does?: string; sameAsDefault?: boolean }
}
/** One entry; `{name}` in a text stands for the option of that name. */
export interface Fact {
  id: string
  name: string
  type: 'oauth' | 'oidc'
  added?: boolean
  issuer?: string | null
  wellKnown?: string
  authorization?: Endpoint
  token?: Endpoint
  userinfo?: Endpoint
  scope: string
  scopeIsDefault: boolean
  effectiveChecks: string[]
  idToken?: boolean
  tokenEndpointAuth: string
  requiredOptions?: string[]
  profile: { map: Record<string, string>; extra?: Record<string, string>; source: string }
  status?: { state: string; note: string }
}

export const facts: readonly Fact[] = (JSON.parse(readFileSync(new URL('facts.json', import.meta.url), 'utf8')) as { providers: Fact[] })
  .providers

/** Replaces `{name}` by the option of that name. */
export function fill<T>(value: T, options: Record<string, unknown>): T {
  if (typeof value !== 'string') return value
  return value.replace(/\{(\w+)\}/g, (whole, name: string) => (name in options ? String(options[name]) : whole)) as T
}

/** A value that the facts describe in words, not in an expression. */
export const inWords: unique symbol = Symbol('in words')
/** The expression throws on this profile, as the original does, or writes "undefined" or "null". */
export const broken: unique symbol = Symbol('broken')

/** The user that the facts say a profile maps to. */
export function mappedUser(fact: Fact, profile: object, tokens: object, options: object): Record<string, unknown> {
  const { map, extra } = fact.profile
  return Object.fromEntries(
    Object.entries({ ...map, ...extra }).map(([key, expression]) => [key, evaluate(expression, profile, tokens, options)]),
  )
}

function evaluate(expression: string, profile: object, tokens: object, options: object): unknown {
  if (expression.startsWith('(')) return inWords
  const scope = {
    profile,
    tokens,
    options,
    String: (value: { toString(): string }) => value.toString(),
    join: (separator: string, ...parts: unknown[]) => parts.filter(Boolean).join(separator),
    firstWhere: (list: Record<string, unknown>[], key: string) => list.find((item) => item[key]),
    randomUUID: () => undefined,
  }
  try {
    // The expressions are ours, checked in beside this file.
    const run = new Function(...Object.keys(scope), `return ${expression}`) as (...values: unknown[]) => unknown
    const value = run(...Object.values(scope))
    return typeof value === 'string' && /undefined|null/.test(value) ? broken : value
  } catch {
    return broken
  }
}
