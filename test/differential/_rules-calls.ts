/** Differences in calls: callbacks, adapter, events, requests to the provider, log. */
import type { Step } from './_browser.ts'
import type { Call } from './_recorder.ts'
import type { Rule } from './_rules.ts'

const reads = new Set(['getUserByAccount', 'getUserByEmail', 'getSessionAndUser', 'getUser', 'getAccount'])

/** What Auth.js logs as a plain error of JavaScript, and its names here. */
const named: Readonly<Record<string, readonly string[]>> = {
  Error: ['EmailSignInError', 'InvalidProvider', 'UnknownAction', 'CallbackRouteError'],
  TypeError: ['InvalidProvider', 'OAuthSignInError'],
  OperationProcessingError: ['OAuthSignInError'],
  SyntaxError: ['AuthError'],
}

export const callRules: readonly Rule[] = [
  {
    hook: 'D34',
    what: 'authjsCompatPlugin warns that it believes forwarded headers',
    apply(ours) {
      ours.logs = ours.logs.filter(({ type }) => type !== 'authjs-compat-trusts-forwarded-headers')
    },
  },
  {
    hook: 'D42',
    what: 'what is experimental warns once, when it is enabled',
    apply(ours, theirs) {
      for (const step of [ours, theirs]) step.logs = step.logs.filter(({ type }) => type !== 'experimental-webauthn')
    },
  },
  {
    hook: 'D43',
    what: 'the redirect callback is asked where a callback URL is needed, not on every request',
    apply(ours, theirs) {
      const asked = ours.calls.filter(isRedirect).map(key)
      const goesOn = needsCallbackUrl(ours)
      theirs.calls = theirs.calls.filter((call) => !isRedirect(call) || asked.includes(key(call)) || goesOn)
    },
  },
  {
    hook: 'D44',
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
    hook: 'D44',
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
    hook: 'D8',
    what: 'discovery is cached, and the keys of the issuer are fetched (D7): each once',
    apply(ours, theirs, memory) {
      const fetched = (memory.get('fetched') ?? new Set()) as Set<string>
      memory.set('fetched', fetched)
      const isMetadata = ({ kind, name }: Call): boolean => kind === 'fetch' && /openid-configuration|\/jwks$/.test(name)
      theirs.calls = theirs.calls.filter((call) => !isMetadata(call))
      ours.calls = ours.calls.filter((call) => {
        const first = isMetadata(call) && !fetched.has(call.name)
        if (first) fetched.add(call.name)
        return !first
      })
    },
  },
  {
    hook: 'SPEC Account',
    what: 'providerAccountId is a text, whatever the profile calls an id',
    apply: (_ours, theirs) => textIds(theirs),
  },
  {
    hook: 'ROWS 276',
    what: 'CallbackRouteError names its provider, whatever was thrown',
    apply(ours, theirs) {
      for (const [i, entry] of theirs.logs.entries()) {
        const mine = ours.logs[i]
        const provider = /\/callback\/([^/?]+)/.exec(ours.request)?.[1]
        if (entry.type === 'CallbackRouteError' && mine?.type === entry.type && mine.details?.['provider'] === provider) {
          const err = mine.details?.['err']
          // A thrown text has no place for details in Auth.js.
          entry.details = { ...(!entry.details?.['provider'] && err !== undefined && { err }), ...entry.details, provider }
        }
      }
    },
  },
  {
    hook: 'D44',
    what: 'the verification token is stored, then the mail is sent; a failing mail takes the token back',
    apply(ours, theirs) {
      const sent = theirs.calls.findIndex(({ kind }) => kind === 'mail')
      const stored = theirs.calls.findIndex(({ name }) => name === 'createVerificationToken')
      if (sent !== -1 && sent < stored) theirs.calls.splice(stored, 0, ...theirs.calls.splice(sent, 1))
      if (!/^POST \S*\/signin\//.test(ours.request)) return
      if (theirs.logs.some(({ type }) => type === 'AdapterError')) theirs.calls = theirs.calls.filter(({ kind }) => kind !== 'mail')
      else ours.calls = ours.calls.filter(({ name }) => name !== 'useVerificationToken')
    },
  },
  {
    hook: 'SPEC Configuration',
    what: 'the theme defaults to none',
    apply(ours, theirs) {
      for (const { payload } of theirs.calls.filter(({ kind }) => kind === 'mail')) {
        const mail = payload as { theme: object }
        const mine = ours.calls.find(({ kind }) => kind === 'mail')?.payload as typeof mail | undefined
        if (mine && Object.keys(mine.theme).length === 0 && JSON.stringify(Object.values(mail.theme)) === '["auto","","",""]')
          mail.theme = {}
      }
    },
  },
  {
    hook: 'D3',
    what: 'under authjsCompatPlugin a link is looked for by our hash and by that of Auth.js',
    apply(ours) {
      const tries = ours.calls.filter(({ name }) => name === 'useVerificationToken')
      if (/^GET \S*\/callback\//.test(ours.request)) ours.calls = ours.calls.filter((call) => !tries.slice(1).includes(call))
    },
  },
  {
    hook: 'D45',
    what: 'signing in again with the same account gives a new session token; Auth.js keeps the session',
    apply(ours, theirs, memory) {
      const tokens = (memory.get('D45') ?? []) as [fresh: string, former: string][]
      const made = ours.calls.findIndex(({ name }) => name === 'createSession')
      const [former] = (ours.calls.find(({ name }) => name === 'getSessionAndUser')?.payload ?? []) as string[]
      const keeps = theirs.answer.cookies.some(({ value }) => value === former)
      if (/\/callback\//.test(ours.request) && former !== undefined && made !== -1 && keeps) {
        const [{ payload }] = ours.calls.splice(made, 1) as [Call]
        memory.set('D45', [...tokens, [(payload as { sessionToken: string }[])[0]!.sessionToken, former]])
      }
      const known = (memory.get('D45') ?? []) as typeof tokens
      const text = known.reduceRight((all, [fresh, kept]) => all.replaceAll(fresh, kept), JSON.stringify(ours))
      Object.assign(ours, JSON.parse(text))
    },
  },
  {
    hook: 'D45',
    what: 'a sign-in ends the database session that the browser held, of any user',
    apply(ours, theirs) {
      if (!/\/callback\//.test(ours.request)) return
      const read = ours.calls.find(({ name }) => name === 'getSessionAndUser')
      const ended = (call: Call): boolean => call.name === 'deleteSession' && JSON.stringify(call.payload) === JSON.stringify(read?.payload)
      for (const step of [ours, theirs]) {
        const at = step.calls.findIndex(ended)
        if (at !== -1) step.calls.splice(at, 1)
      }
    },
  },
  {
    hook: 'a link whose sign-in failed',
    what: 'a link that a failing store spoiled works again',
    apply(ours, theirs) {
      if (!theirs.logs.some(({ type }) => type === 'AdapterError') || !/^GET \S*\/callback\//.test(ours.request)) return
      ours.calls = ours.calls.filter(({ name }) => name !== 'createVerificationToken')
    },
  },
  {
    hook: 'D16',
    what: 'linking an account to an existing user fires no createUser event',
    apply(ours, theirs) {
      const made = ours.calls.some(({ kind, name }) => kind === 'adapter' && name === 'createUser')
      if (!made) theirs.calls = theirs.calls.filter(({ kind, name }) => kind !== 'event' || name !== 'createUser')
    },
  },
  {
    hook: 'D32',
    what: 'the owner of an account is looked for again before a user is refused, linked or told of a failure; half a user is taken back',
    apply(ours, theirs) {
      const known = new Set(theirs.calls.map(key))
      const failed = theirs.logs.some(({ type }) => type === 'AdapterError')
      const seen = new Set<string>()
      let repeats = 0
      ours.calls = ours.calls.filter((call) => {
        if (call.kind !== 'adapter') return true
        const again = seen.has(key(call))
        seen.add(key(call))
        // Before a user is refused or linked.
        if (call.name === 'getUserByAccount' && again && repeats < allowedRepeats(ours)) return ++repeats === 0
        return !failed || known.has(key(call))
          ? !(failed && again)
          : !['getUser', 'getUserByAccount', 'getUserByEmail', 'deleteUser'].includes(call.name)
      })
      // Told after both writes (D44), so not when the second failed.
      if (failed && !ours.calls.some(isCreated)) theirs.calls = theirs.calls.filter((call) => !isCreated(call))
    },
  },
  {
    hook: 'D31',
    what: 'a failing store is logged once',
    apply(_ours, theirs) {
      theirs.logs = theirs.logs.filter((entry, i) => entry.type !== 'AdapterError' || theirs.logs[i - 1]?.type !== 'AdapterError')
    },
  },
  {
    hook: 'SPEC Errors',
    what: 'every error of the library is an AuthError, plain errors of JavaScript included',
    apply(ours, theirs) {
      for (const [i, { level, type, details }] of theirs.logs.entries()) {
        const mine = ours.logs[i]
        if (level === 'error' && details === undefined && mine && named[type]?.includes(mine.type))
          theirs.logs[i] = { level, type: mine.type, details: { ...mine.details, kind: 'error' } }
      }
    },
  },
]

/** Whether a sign-in or sign-out went through, and so needed to know where to go. */
function needsCallbackUrl({ request, answer, logs }: Step): boolean {
  if (!/^(?:GET \S*\/callback|POST \S*\/(?:callback|signin|signout))/.test(request)) return false
  return answer.status < 400 && logs.every(({ level }) => level !== 'error') && !isHandedOn({ request, answer })
}

/** A callback that a redirect proxy hands on to the same path elsewhere. */
export function isHandedOn({ request, answer: { location } }: Pick<Step, 'request' | 'answer'>): boolean {
  const path = /^GET ([^?]*\/callback\/[^?]*)/.exec(request)?.[1]
  return path !== undefined && location !== undefined && URL.canParse(location.url) && new URL(location.url).pathname === path
}

/** A refusal waits for a write that may be under way: it looks four times more. Linking, and telling of a failure, look once more. */
function allowedRepeats({ calls, logs }: Step): number {
  if (logs.some(({ type }) => type === 'OAuthAccountNotLinked')) return 4
  return calls.some(({ name }) => name === 'linkAccount') || logs.some(({ level }) => level === 'error') ? 1 : 0
}

function isRedirect({ kind, name }: Call): boolean {
  return kind === 'callback' && name === 'redirect'
}

function textIds(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [name, item] of Object.entries(value)) {
    if (name === 'providerAccountId' && typeof item === 'number') (value as Record<string, unknown>)[name] = String(item)
    else textIds(item)
  }
}

function isCreated({ kind, name }: Call): boolean {
  return kind === 'event' && name === 'createUser'
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
