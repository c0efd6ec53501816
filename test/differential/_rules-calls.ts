/** Differences in calls: callbacks, adapter, events, requests to the provider, log. */
import type { Step } from './_browser.ts'
import type { Call } from './_recorder.ts'
import type { Rule } from './_rules.ts'

const reads = new Set(['getUserByAccount', 'getUserByEmail', 'getSessionAndUser', 'getUser', 'getAccount'])

export const callRules: readonly Rule[] = [
  {
    decision: 'D34',
    what: 'authjsCompatPlugin warns that it believes forwarded headers',
    apply(ours) {
      ours.logs = ours.logs.filter(({ type }) => type !== 'authjs-compat-trusts-forwarded-headers')
    },
  {
    decision: 'D43',
    what: 'the redirect callback is asked where a callback URL is needed, not on every request',
    apply(ours, theirs) {
      const asked = ours.calls.filter(isRedirect).map(key)
      theirs.calls = theirs.calls.filter((call) => !isRedirect(call) || asked.includes(key(call)))
    },
  },
  {
    decision: 'D44',
    what: 'a read made once in a request is not repeated',
    apply(_ours, theirs) {
      const seen = new Set<string>()
      theirs.calls = theirs.calls.filter((call) => {
        if (call.kind !== 'adapter' || !reads.has(call.name)) return true
        const known = seen.has(key(call))
        seen.add(key(call))
        return !known
      })
    },
  },
  {
    decision: 'D44',
    what: 'createUser and linkAccount are told after both writes',
    apply(_ours, theirs) {
      const told = theirs.calls.findIndex(({ kind, name }) => kind === 'event' && name === 'createUser')
      const linked = theirs.calls.findIndex(({ kind, name }) => kind === 'adapter' && name === 'linkAccount')
      if (told === -1 || linked < told) return
      const [event] = theirs.calls.splice(told, 1)
      theirs.calls.splice(linked, 0, event as Call)
    },
  },
  {
    decision: 'D8',
    what: 'discovery is cached, and the keys of the issuer are fetched (D7)',
    apply(ours, theirs) {
      for (const step of [ours, theirs]) {
        step.calls = step.calls.filter(({ kind, name }) => kind !== 'fetch' || !/openid-configuration|\/jwks$/.test(name))
      }
    },
  },
  {
    decision: 'SPEC Errors',
    what: 'every error of the library is an AuthError, plain errors of JavaScript included',
    apply(ours, theirs) {
      const nameless = ['Error', 'TypeError', 'SyntaxError']
      for (const [i, { type }] of theirs.logs.entries()) {
        const mine = ours.logs[i]
        if (nameless.includes(type) && mine && !nameless.includes(mine.type)) theirs.logs[i] = mine
      }
    },
  },
  },
]

function isRedirect({ kind, name }: Call): boolean {
  return kind === 'callback' && name === 'redirect'
}

function key(call: Call): string {
  return JSON.stringify([call.name, sortKeys(call.payload)])
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, item]) => [name, sortKeys(item)]),
  )
}

/** Calls of one kind, for rules of other files. */
export function callsOf(step: Step, kind: Call['kind'], name: string): Call[] {
  return step.calls.filter((call) => call.kind === kind && call.name === name)
}
