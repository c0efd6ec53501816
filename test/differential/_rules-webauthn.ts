/** Differences of passkeys. */
import type { Step } from './_browser.ts'
import type { Call } from './_recorder.ts'
import type { Rule } from './_rules.ts'

const reads = new Set(['getUser', 'getUserByAccount', 'getUserByEmail', 'getSessionAndUser'])

export const webauthnRules: readonly Rule[] = [
  {
    hook: 'D28',
    what: 'the kernel gives every new user an id, and says that no address is verified',
    apply(ours, theirs) {
      if (!onPasskeys(ours)) return
      const [mine] = created(ours)
      const [other] = created(theirs)
      if (mine && other && !('id' in other)) Object.assign(other, { id: mine['id'], emailVerified: null })
      for (const call of theirs.calls.filter(({ kind }) => kind !== 'adapter')) {
        const { user } = Object(call.payload) as { user?: Record<string, unknown> }
        if (mine && user?.['id'] !== undefined && !('emailVerified' in user) && call.name !== 'signIn') user['emailVerified'] = null
        if (mine && call.kind === 'event' && user) user['emailVerified'] ??= null
        if (mine && call.name === 'jwt' && user) user['emailVerified'] ??= null
      }
    },
  },
  {
    hook: 'D44',
    what: 'the authenticator is stored before the session, and both events are told after all writes',
    apply(ours, theirs) {
      const stored = theirs.calls.findIndex(({ name }) => name === 'createAuthenticator')
      const linked = theirs.calls.findIndex(({ kind, name }) => kind === 'adapter' && name === 'linkAccount')
      if (!onPasskeys(ours) || stored === -1 || linked === -1) return
      const [call] = theirs.calls.splice(stored, 1)
      theirs.calls.splice(linked + 1, 0, call as Call)
      const told = theirs.calls.filter(({ kind, name }) => kind === 'event' && name === 'createUser')
      const rest = theirs.calls.filter((one) => !told.includes(one))
      theirs.calls = rest.toSpliced(rest.indexOf(call as Call) + 1, 0, ...told)
    },
  },
  {
    hook: 'ROWS 248',
    what: 'who is signed in is looked up in the store, not believed from the token',
    apply(ours, theirs) {
      if (!onPasskeys(ours)) return
      const known = theirs.calls.filter(({ name }) => name === 'getUser').length
      const looks = ours.calls.filter(({ name }) => name === 'getUser')
      ours.calls = ours.calls.filter((call) => !looks.slice(known).includes(call))
    },
  },
  {
    hook: 'D44',
    what: 'reads that follow each other have no order',
    apply(ours, theirs) {
      if (onPasskeys(ours)) for (const step of [ours, theirs]) step.calls = sortedReads(step.calls)
    },
  },
  {
    hook: 'D35',
    what: 'a challenge is spent before anything else is looked at',
    apply(ours, theirs) {
      const refused = ours.logs.some(({ type }) => type === 'InvalidCheck')
      if (!onPasskeys(ours) || !refused) return
      theirs.calls = theirs.calls.filter(({ name }) => name !== 'getAuthenticator')
      if (theirs.logs[0]?.type === 'AuthError') theirs.logs = ours.logs
    },
  },
  {
    hook: 'SECURITY 6.3.8',
    what: 'an unknown address is offered a credential that does not exist, so that the answer does not tell it from a known one',
    apply({ answer: { body: ours } }, { answer: { body: theirs } }) {
      const [mine, other] = [ours, theirs].map((body) => (Object(body) as { options?: { allow?: unknown[] } }).options)
      if (mine?.allow?.length === 1 && other?.allow?.length === 0) other.allow = mine.allow
    },
  },
]

function onPasskeys({ request }: Step): boolean {
  return /\/(?:callback|webauthn-options)\/passkey/.test(request)
}

function created({ calls }: Step): Record<string, unknown>[] {
  return calls
    .filter(({ kind, name }) => kind === 'adapter' && name === 'createUser')
    .map(({ payload }) => (payload as Record<string, unknown>[])[0] ?? {})
}

function sortedReads(calls: Call[]): Call[] {
  const result: Call[] = []
  for (const call of calls) {
    let at = result.length
    while (isRead(call) && at > 0 && isRead(result[at - 1]) && (result[at - 1]?.name ?? '') > call.name) at--
    result.splice(at, 0, call)
  }
  return result
}

function isRead(call: Call | undefined): boolean {
  return call?.kind === 'adapter' && reads.has(call.name)
}
