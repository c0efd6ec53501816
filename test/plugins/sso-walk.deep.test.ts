/** Every route that changes something, walked with a session of before a policy: none gives its user a session, an account, a key, a code or a credential. */
import type { SsoApi } from 'authkernel/plugins/sso'
import { expect, it } from 'vitest'
import { isFullTier } from '../_tier.ts'
import { system } from './_sso.ts'
import { text, walk, world } from './_everything.ts'

/** Records whose rows are ways in of their user. */
const opening = ['apiKey', 'appSession', 'appCode', 'deviceCode', 'oauthCode', 'oauthGrant', 'password', 'twoFactor', 'twoFactorBackupCode']

/** Routes that answer a flow or begin one, and how each is closed. A new one needs a line, and a test of its own where the walk cannot do it. */
const flows: Readonly<Record<string, string>> = {
  'POST /signin/:provider': 'begins a flow; the hook `signIn` is asked before a mail, and when the flow ends',
  'GET /callback/:provider': 'ends in `complete`: sso-policies.deep.test.ts, "links no other provider, and that signs no user in"',
  'POST /callback/:provider': 'likewise: "closes the way in by password"',
  'POST /signin/:provider/token': 'ends in `complete`, as the callback does',
  'POST /passwords/new': 'the hook `access`: "a reset of the password sets none"',
  'POST /passwords/longer': 'a parked login, which goes on by `resume`: "closes the way in by parked"',
  'POST /two-factor': 'likewise',
  'POST /passwords/confirm': 'ends in `complete`, as the password does',
  'POST /phone/newcomer': 'ends in `complete`; a newcomer has no address',
  'POST /saml/:provider/acs': 'ends in `complete`',
  'POST /saml/:provider/continue': 'ends in `complete`',
}

async function made(demands: boolean) {
  const of = await world('database')
  const sso = (of.auth as unknown as SsoApi).sso
  const { organization } = of.own
  await sso.create(system, organization, { name: 'A', issuer: 'https://idp.example', clientId: 'a', clientSecret: 's' })
  const except = (names: readonly string[]) => {
    const rows = of.data.records?.get('ssoPolicy')
    for (const [id, row] of rows ?? []) rows?.set(id, { ...row, exceptions: JSON.stringify(names) })
  }
  if (demands) await sso.setPolicy(system, organization, { domains: false, members: true, exceptions: ['bob'] })
  const known = new Set<string>()
  // As if it had begun before the policy, and had not been ended yet.
  const open = async () => {
    except(['bob'])
    const client = await of.browser('bob')
    for (const one of of.data.sessions.values()) known.add(one.sessionToken)
    except([])
    return client
  }
  // A factor that was not confirmed opens nothing.
  const mine = <T extends { userId?: unknown }>(rows: Iterable<T>) =>
    [...rows].filter((row) => row.userId === 'bob' && !('confirmed' in row && row.confirmed === false))
  const kept = () =>
    text([
      mine(of.data.sessions.values()).filter(({ sessionToken }) => !known.has(sessionToken)).length,
      mine(of.data.accounts.values()),
      mine(of.data.authenticators.values()),
      of.data.users.get('bob')?.email,
      opening.map((name) => mine((of.data.records?.get(name)?.values() ?? []) as Iterable<{ userId?: unknown }>)),
    ])
  const result = await walk({ routes: of.routes, own: of.own, person: 'bob' }, kept, {
    client: open,
    // They take away: the user, or the membership that the policy rests on.
    skip: (path) => /^\/(?:account\/delete|user\/delete|organizations\/leave)$/.test(path),
  })
  return { ...result, of }
}

it('gives nothing to a user whom a policy binds, by any route; without the policy it does', async () => {
  const [free, bound] = [await made(false), await made(true)]
  // Else the walk would prove nothing.
  expect(free.changed.length).toBeGreaterThan(3)
  expect(bound.asked).toBeGreaterThan(isFullTier ? 300 : 100)
  expect(bound.changed).toEqual([])
}, 300_000)

it('knows every route that begins or ends a sign-in', async () => {
  const { routes } = await world()
  const found = routes.filter(({ flow }) => flow !== undefined).map(({ method, path }) => `${method} ${path}`)
  expect(found.toSorted()).toEqual(Object.keys(flows).toSorted())
})
