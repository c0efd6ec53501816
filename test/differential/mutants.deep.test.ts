/** The list of differences forgives what it names and nothing else: each mutant of our side must be seen. */
import { expect, it } from 'vitest'
import type { Step } from './_browser.ts'
import { differences } from './_diff.ts'
import { type Flow, play } from './_flow.ts'
import { credentialsFlows } from './_flows-credentials.ts'
import { emailFlows } from './_flows-email.ts'
import { oauthFlows } from './_flows-oauth.ts'
import { sessionFlows } from './_flows-session.ts'
import { normalise } from './_normalise.ts'
import type { Call } from './_recorder.ts'
import { applyRules } from './_rules.ts'

const flows = [...oauthFlows, ...sessionFlows, ...emailFlows, ...credentialsFlows]
const played = new Map<string, Promise<readonly [Step[], Step[]]>>()

function find(name: string): Flow {
  const flow = flows.find((one) => one.name === name)
  if (!flow) throw new Error(`No flow is called "${name}".`)
  return flow
}

/** Both sides of a flow, played once. */
function sides(name: string): Promise<readonly [Step[], Step[]]> {
  const flow = find(name)
  const known = played.get(name) ?? play(flow, 'theirs').then(async (theirs) => [await play(flow, 'ours'), theirs] as const)
  played.set(name, known)
  return known
}

async function left(name: string, mutate: (ours: Step[]) => void): Promise<string[]> {
  const [ours, theirs] = structuredClone(await sides(name)) as [Step[], Step[]]
  mutate(ours)
  const pair = applyRules(normalise(ours), normalise(theirs), find(name).decided ?? {})
  return differences(normalise(pair.ours), normalise(pair.theirs))
}

const at = (steps: Step[], request: RegExp): Step => {
  const step = steps.findLast((one) => request.test(one.request))
  if (!step) throw new Error(`No request matches ${request}.`)
  return step
}
const cookie = (step: Step, key: string): number => {
  const index = step.answer.cookies.findIndex(({ name, value }) => name.includes(key) && value !== '')
  expect(index, key).not.toBe(-1)
  return index
}
const without = (step: Step, lost: (call: Call) => boolean): void => {
  const kept = step.calls.filter((call) => !lost(call))
  expect(kept.length).toBeLessThan(step.calls.length)
  step.calls = kept
}
const repeated = (step: Step, wanted: (call: Call) => boolean): void => {
  const call = step.calls.find(wanted)
  expect(call).toBeDefined()
  step.calls.splice(step.calls.indexOf(call!), 0, structuredClone(call!))
}
const callback = /^GET \S*\/callback\//

it.each<[what: string, flow: string, mutate: (ours: Step[]) => void]>([
  [
    'D43: a callback URL that is not kept',
    'jwt: sign out, own page',
    (ours) => {
      const step = at(ours, /^GET \S*\/signout/)
      step.answer.cookies.splice(cookie(step, 'callback-url'), 1)
    },
  ],
  [
    'D43: a redirect callback that is not asked where the sign-in goes on',
    'acme, database, a known account, plain',
    (ours) => without(at(ours, callback), ({ name }) => name === 'redirect'),
  ],
  [
    'D8: discovery that is fetched at every sign-in',
    'acme, database, a known account, plain',
    (ours) => {
      const first = ours.find(({ calls }) => calls.some(isDiscovery))
      const call = first?.calls.find(isDiscovery)
      expect(call).toBeDefined()
      at(ours, callback).calls.push(structuredClone(call!))
    },
  ],
  [
    'SPEC Errors: another error than the one announced',
    'database: the mail cannot be sent',
    (ours) => {
      const entry = at(ours, /^POST \S*\/signin\/mail/).logs.find(({ type }) => type === 'EmailSignInError')
      expect(entry).toBeDefined()
      entry!.type = 'AdapterError'
    },
  ],
  [
    'SPEC Errors: an error of the wrong kind',
    'database: the mail cannot be sent',
    (ours) => {
      const entry = at(ours, /^POST \S*\/signin\/mail/).logs.find(({ type }) => type === 'EmailSignInError')
      entry!.details = { ...entry!.details, kind: 'signIn' }
    },
  ],
  [
    'D45: the session of another user is deleted too',
    'acme, database, signed in: the account is mine',
    (ours) => void at(ours, callback).calls.push({ kind: 'adapter', name: 'deleteSession', payload: ['token of somebody else'] }),
  ],
  [
    'D45: a session is deleted twice',
    'acme, database, signed in: the account is mine',
    (ours) => {
      const step = at(ours, callback)
      const read = step.calls.find(({ name }) => name === 'getSessionAndUser')
      for (let i = 0; i < 2; i++) step.calls.push({ kind: 'adapter', name: 'deleteSession', payload: structuredClone(read?.payload) })
    },
  ],
  [
    'D32: an account that is looked for again and again',
    'acme, database, a known account, plain',
    (ours) => repeated(at(ours, callback), ({ name }) => name === 'getUserByAccount'),
  ],
  [
    'D32: a session that is read twice',
    'acme, database, signed in: the account is mine',
    (ours) => repeated(at(ours, callback), ({ name }) => name === 'getSessionAndUser'),
  ],
  [
    'D5: a token that ends later than the one that the browser holds',
    'jwt: read',
    (ours) => {
      const step = at(ours, /^GET \S*\/session/)
      const tokens = step.calls.map(({ payload }) => (payload as { token?: { exp?: number } } | null)?.token).filter((token) => token?.exp)
      expect(tokens.length).toBeGreaterThan(0)
      for (const token of tokens) token!.exp! += 3600
    },
  ],
  [
    'ROWS 276: an error that names another provider',
    'authorize: a thrown text',
    (ours) => {
      const entry = at(ours, /^POST \S*\/callback/).logs.find(({ type }) => type === 'CallbackRouteError')
      expect(entry).toBeDefined()
      entry!.details = { ...entry!.details, provider: 'somebody' }
    },
  ],
])('%s', async (_what, flow, mutate) => {
  expect(await left(flow, () => {})).toEqual([])
  expect(await left(flow, mutate)).not.toEqual([])
})

function isDiscovery({ kind, name }: Call): boolean {
  return kind === 'fetch' && name.includes('openid-configuration')
}
