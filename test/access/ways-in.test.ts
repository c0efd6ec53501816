/** Every way in stamps and asks: a list of what plugins keep for users, and of where sessions are issued, fails for what is new and unknown. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { readSources } from '../_sources.ts'
import { accessHost, enter, opens, signedIn, type WayIn, waysIn } from './_host.ts'

/** Tables of users' rows that open something, or could be used to. `grant`: each row is written by `ctx.access.grant`. */
const opening: Readonly<Record<string, string>> = {
  appSession: 'plugins/machines/bearer/grants.ts',
  appCode: 'plugins/machines/bearer/authorize.ts',
  deviceCode: 'plugins/machines/device-flow/approve.ts',
  oauthCode: 'plugins/machines/authorization-server/codes.ts',
  oauthBackchannel: 'plugins/machines/authorization-server/ciba-approve.ts',
  oauthDeviceCode: 'plugins/machines/authorization-server/device-approve.ts',
  oauthGrant: 'plugins/machines/authorization-server/grants.ts',
  apiKey: 'plugins/machines/api-keys/manage.ts',
  portalLink: 'plugins/federation/portal/links.ts',
  agent: 'plugins/machines/agents/manage.ts',
  agentApproval: 'plugins/machines/agents/approvals.ts',
  password: 'plugins/sign-in/passwords/store-password.ts',
  twoFactor: 'plugins/security/two-factor/setup.ts',
  twoFactorBackupCode: 'plugins/security/two-factor/setup.ts',
}
/** Tables of users' rows that open nothing, with the reason. */
const harmless: Readonly<Record<string, string>> = {
  sessionRecord: 'describes sessions, which `complete` grants',
  deviceSession: 'makes a session harder to copy',
  waitingSession: 'names sessions, which end by themselves',
  impersonation: 'describes an acting session, which its start grants',
  guest: 'describes a guest, whose session `complete` grants',
  parkedLogin: 'holds a stamp, which is compared when the login goes on',
  deniedAddress: 'says what a provider denied',
  providerSubject: 'says which user a name at a provider is',
  providerToken: 'opens the API of the provider, and ends by the step `token`',
  ssoSignIn: 'is a log',
  logoutHint: 'is sent to the provider at sign-out',
  jwtKey: 'is a key of the server',
  oauthConsent: 'says what a user allowed a client, which gets a code only from a signed-in user',
  legacyPassword: 'says that a former service is asked no more about a user',
  passwordReset: 'is a link that ends by the step `pending`; the new password is granted',
  passkeyHandle: 'is the name of a user for authenticators',
  userName: 'is a name',
  admittedUser: 'says by which invitation a user came in',
  userBan: 'refuses',
  adminRole: 'is a right, which is read at each use',
  adminRequest: 'waits for administrators, whose rights are read when they agree',
  userSeen: 'says when a user signed in',
  phoneUse: 'says when a number was used',
  twoFactorState: 'counts wrong codes',
  twoFactorMailedCode: 'counts for one parked login alone',
  twoFactorDevice: 'replaces a factor and no sign-in, and ends with all sessions',
  organizationMember: 'is a right, which is read at each use',
  organizationTeamMember: 'is a right, which is read at each use',
  scimUser: 'says what a directory knows of a user; a switched-off one refuses',
  scimEmail: 'is an index of emails of a directory',
  scimMember: 'is a group of a directory, whose role is read at each use',
  signalEvent: 'tells another app that access ended',
  signalSubject: 'says whether a receiver is told about a user',
  organizationDeparture: 'says that a user left, and keeps a domain from letting them in again',
  organizationActive: 'names the organization that was chosen last',
}

describe('the list of ways in', () => {
  const sources = readSources('src', 'plugins')

  it('knows each table with rows of users', () => {
    const owned = sources.flatMap(({ text }) => {
      const specs = [...text.matchAll(/export const (\w+): RecordSpec<[^=]*= \{([\s\S]*?)\n\}/g)]
      return specs.filter(([, , body]) => /\n {2}owner[:,]/.test(body!)).map(([, name]) => name!)
    })
    const registered = sources.flatMap(({ text }) =>
      [...text.matchAll(/(?:kernel\.records|draft\.record)\(\s*'(\w+)',\s*(\w+)/g)].map(([, name, spec]) => ({ name: name!, spec: spec! })),
    )
    const names = registered.filter(({ spec }) => owned.includes(spec)).map(({ name }) => name)
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !(name in opening) && !(name in harmless))).toEqual([])
  })

  it.each(Object.entries(opening))('rows of %s are written by a grant', (_, file) => {
    expect(readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')).toContain('access.grant(')
  })

  it('another address is stored by a grant, except by the link that takes a change back', () => {
    const storing = sources.filter(({ text }) => /\bstoreAddress\(/.test(text)).map(({ path }) => path)
    expect(storing.sort()).toEqual(['plugins/people/address/change.ts', 'plugins/people/address/undo.ts', 'plugins/people/address/user.ts'])
    expect(readFileSync(new URL('../../plugins/people/address/change.ts', import.meta.url), 'utf8')).toMatch(
      /access\.grant\([\s\S]{0,120}storeAddress\(/,
    )
  })

  it('sessions are issued by a grant', () => {
    const issuing = sources.filter(({ path, text }) => /session\.issue\(/.test(text) && !path.startsWith('src/testing/'))
    expect(issuing.map(({ path }) => path).sort()).toEqual(['plugins/people/impersonation/acts.ts', 'src/sign-in/complete.ts'])
    for (const { text } of issuing) expect(text).toMatch(/access\.grant\([\s\S]{0,120}session\.issue\(/)
  })

  it('reads all plugins', () => {
    expect(readdirSync(new URL('../../plugins', import.meta.url)).length).toBeGreaterThan(8)
  })
})

describe.each(['jwt', 'database'] as const)('the hook `access` under the %s strategy', (strategy) => {
  async function start() {
    const adapter = memoryAdapter()
    await adapter.createUser({ id: 'ada', email: 'ada@example.com', name: 'ada', emailVerified: new Date(0) } as never)
    const auth = accessHost(adapter, strategy)
    return { auth, copied: await signedIn(auth) }
  }
  const asked: Record<WayIn, string[]> = {
    password: ['signIn'],
    parked: ['signIn'],
    app: ['appCode', 'appToken'],
    device: ['deviceApproval', 'appToken'],
    apiKey: ['apiKey'],
  }

  it.each(waysIn)('is asked by %s, and its no is the end of it', async (what) => {
    const { auth, copied } = await start()
    const questions: string[] = []
    const off = auth.hook('access', ({ userId, by }) => {
      questions.push(by)
      return userId === 'ada'
    })
    const credential = await enter[what](auth, copied)
    expect(credential && (await opens(auth, credential))).toBe(true)
    expect(questions).toEqual(expect.arrayContaining(asked[what]))
    off()
    for (const refused of asked[what]) {
      const again = auth.hook('access', ({ by }) => by !== refused)
      const given = await enter[what](auth, copied).catch(() => undefined)
      expect(given === undefined || !(await opens(auth, given)), refused).toBe(true)
      again()
    }
  })

  it('is asked at each use of tokens and keys', async () => {
    const { auth, copied } = await start()
    const credentials = [await enter.app(auth, copied), await enter.apiKey(auth, copied)]
    auth.hook('access', () => false)
    for (const credential of credentials) expect(credential && (await opens(auth, credential))).toBe(false)
  })
})
