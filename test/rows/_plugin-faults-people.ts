/** Journeys of people: organizations, administrators and who acts as whom, several accounts and sessions that know their device, numbers, deletion. */
import type { Auth } from 'authkernel'
import { type AccountsApi, accountsPlugin } from 'authkernel/plugins/accounts'
import { type AdminApi, adminPlugin } from 'authkernel/plugins/admin'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type DeviceSessionsApi, deviceSessionsPlugin } from 'authkernel/plugins/device-sessions'
import { type ImpersonationApi, impersonationPlugin } from 'authkernel/plugins/impersonation'
import { type MultiSessionApi, multiSessionPlugin } from 'authkernel/plugins/multi-session'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import { phonePlugin } from 'authkernel/plugins/phone'
import { type StepUpApi, stepUpPlugin } from 'authkernel/plugins/step-up'
import { Device } from '../plugins/_dbsc.ts'
import type { Client } from '../_setup.ts'
import { asks, byName, type Ground, type Journey, keep, person, settle, signedIn, signedInAs, tokenIn } from './_ground.ts'

const signIn = { providers: [byName as never] }
const api = <T>({ auth }: Ground): T => auth as unknown as T
const reason = 'ticket 4711'

export const peopleJourneys: readonly Journey[] = [
  {
    name: 'organizations: made, invited, joined, a role, removed',
    slow: true,
    plugins: () => [organizationsPlugin({}) as never],
    config: () => ({ ...signIn, origin: 'http://localhost:3000' }),
    async run(ground, who, mustNot) {
      const { organizations } = api<OrganizationsApi>(ground)
      const auth = api<Auth & OrganizationsApi>(ground)
      const [owner, guest, stranger] = [
        await signedInAs(ground, who),
        await signedInAs(ground, `${who}-guest`),
        await signedInAs(ground, `${who}-stranger`),
      ]
      const made = await ground.api('create', () => organizations.create(asks(owner), { name: `Org of ${who}` }))
      const id = made?.id ?? 'none'
      const before = ground.mails.length
      await ground.api('invite', () => organizations.invite(asks(owner), id, { email: `${who}-guest@example.com`, role: 'admin' }))
      await settle(ground.mails, before)
      const token = tokenIn(ground.mails[before])
      mustNot('a stranger accepts', (await ground.api('accept', () => organizations.accept(asks(stranger), token))) !== null)
      await ground.api('accept', () => organizations.accept(asks(guest), token))
      const may = async (client: Client): Promise<boolean> =>
        (await ground.api('can', () => auth.can(asks(client), 'member:read', { organization: id }))) === true
      mustNot('a stranger may read the members', await may(stranger))
      const [joined, list] = [await may(guest), await ground.api('members', () => organizations.members(asks(owner), id))]
      await ground.api('setRole', () => organizations.setRole(asks(owner), id, `${who}-guest`, 'member'))
      const removed = await ground.api('remove', async () => (await organizations.remove(asks(owner), id, `${who}-guest`), true))
      if (removed) mustNot('a removed member may read the members', await may(guest))
      const gone = await ground.api('delete', async () => (await organizations.delete(asks(owner), id), true))
      if (gone) mustNot('the owner of what is gone may read the members', await may(owner))
      return joined && list?.members.length === 2 && removed === true && gone === true
    },
  },
  {
    name: 'admin: found, banned, unbanned, signed out',
    slow: true,
    plugins: () => [adminPlugin({ can: ({ admin }) => admin.id?.startsWith('root') === true }) as never, apiKeysPlugin() as never],
    config: () => signIn,
    async run(ground, who, mustNot) {
      const { admin, apiKeys } = api<AdminApi & ApiKeysApi>(ground)
      const [root, user] = [await signedInAs(ground, `root-${who}`), await signedInAs(ground, who)]
      const made = await ground.api('key', () => apiKeys.create({ userId: who }, { name: 'k' }))
      const asKey = async (): Promise<boolean> => {
        const answer = await ground.browser().get('/session', { 'x-api-key': made?.key ?? 'none' })
        return answer.status === 200 && (await answer.json()) !== null
      }
      mustNot(
        'a user bans',
        (await ground.api('ban by a user', async () => (await admin.ban(asks(user), `root-${who}`, { reason }), true))) !== null,
      )
      const found = await ground.api('list', () => admin.list(asks(root), { email: `${who}@` }))
      const banned = await ground.api('ban', async () => (await admin.ban(asks(root), who, { reason }), true))
      if (banned) {
        mustNot('a banned user has a session', await signedIn(user))
        mustNot('a banned user signs in', await signedIn(await signedInAs(ground, who)))
        mustNot('a banned user has a key', await asKey())
      }
      const back = await ground.api('unban', () => admin.unban(asks(root), who, { reason }))
      const again = await signedInAs(ground, who)
      const arrived = await signedIn(again)
      const ended = await ground.api('signOut', async () => (await admin.signOut(asks(root), who, { reason }), true))
      if (ended) mustNot('a session lives that an administrator ended', await signedIn(again))
      return found?.users.length === 1 && banned === true && back === true && arrived && ended === true && (await asKey())
    },
  },
  {
    name: 'impersonation: begun, used, ended',
    slow: true,
    plugins: () => [accountsPlugin() as never, impersonationPlugin({ can: ({ admin }) => admin.id?.startsWith('root') === true }) as never],
    config: () => signIn,
    async run(ground, who, mustNot) {
      const { impersonation, users } = api<ImpersonationApi & AccountsApi>(ground)
      const [root, user] = [await signedInAs(ground, `root-${who}`), await signedInAs(ground, who)]
      const names = async (client: Client): Promise<unknown[]> => {
        const session = (await client.session().catch(() => null)) as { user?: { name?: string }; actor?: { id: string } } | null
        return [session?.user?.name, session?.actor?.id]
      }
      const order = { userId: who, reason, returnTo: '/home' }
      mustNot(
        'a user acts as an administrator',
        (await ground.api('start by a user', () => impersonation.start(asks(user), { ...order, userId: `root-${who}` }))) !== null,
      )
      const begun = await ground.api('start', async () => keep(root, await impersonation.start(asks(root), order)))
      const [name, actor] = await names(root)
      // The actor is always named.
      mustNot('the user without the name of who acts', name === who && actor !== `root-${who}`)
      if (begun)
        mustNot('a user who acts for another deletes the user', (await ground.api('delete', () => users.delete(asks(root)))) === true)
      const acting = asks(root)
      const ended = await ground.api('stop', async () => keep(root, await impersonation.stop(asks(root))))
      if (ended) {
        const left = await ground.api('session', () => ground.auth.session(acting))
        mustNot('a session to act lives after its end', left !== null)
      }
      const [own, nobody] = await names(root)
      return begun !== null && name === who && own === `root-${who}` && nobody === undefined
    },
  },
  {
    name: 'multi-session: two accounts, switched, signed out',
    slow: true,
    plugins: () => [accountsPlugin() as never, multiSessionPlugin() as never],
    config: () => signIn,
    async run(ground, who, mustNot) {
      const { multiSession } = api<MultiSessionApi>(ground)
      const [other, client] = [`${who}-too`, await signedInAs(ground, who)]
      await person(ground, other)
      await client.post('/switch', { action: 'add' })
      await client.post('/callback/credentials', { user: other })
      const nameOf = async (): Promise<unknown> => (await client.session().catch(() => null))?.user?.['name']
      const second = await nameOf()
      const asSecond = asks(client)
      const list = (await ground.api('list', () => multiSession.list(asks(client)))) ?? []
      const id = list.find(({ name }) => name === who)?.id ?? 'none'
      await client.post('/switch', { action: 'switch', id })
      const first = await nameOf()
      if (first === who) {
        const copied = await ground.api('session', () => ground.auth.session(asSecond))
        mustNot('a copy from before the switch is a session', copied !== null)
      }
      const answer = await client.post('/switch', { action: 'all' })
      if (answer.status === 302 && !answer.headers.get('location')?.includes('error='))
        mustNot('a session after all were signed out', await signedIn(client))
      return second === other && first === who && !(await signedIn(client))
    },
  },
  {
    name: 'device-sessions: a new browser, bound to its key, refreshed',
    slow: true,
    plugins: () => [accountsPlugin() as never, deviceSessionsPlugin({ bind: 'optional' }) as never],
    config: () => signIn,
    async run(ground, who, mustNot) {
      const { devices } = api<DeviceSessionsApi>(ground)
      await signedInAs(ground, who, 'https://app.example')
      const client = ground.browser('https://app.example')
      const device = new Device(client)
      const answer = await client.post('/callback/credentials', { user: who }, { 'user-agent': 'Another Browser/1.0' })
      const registered = (await device.register(answer))?.status === 200
      const listed = await ground.api('list', () => devices.list({ userId: who }))
      ground.runtime.advance(301_000)
      if (registered) mustNot('a bound session without its short cookie is a session', await signedIn(client))
      const refreshed = registered && (await device.refresh()).status === 200
      return refreshed && listed?.length === 2 && (await signedIn(client))
    },
  },
  {
    name: 'phone: a code by text message',
    plugins: ({ texts }) => [phonePlugin({ send: (message) => void texts.push(message) }) as never],
    async run(ground, who, mustNot) {
      const [client, before] = [ground.browser(), ground.texts.length]
      await client.post('/signin/phone', { phone: who === 'first' ? '+4915123456789' : '+4915123456780' })
      await settle(ground.texts, before)
      const code = ground.texts[before]?.code ?? 'none'
      const wrong = code === 'none' ? '111111' : String((Number(code) + 1) % 1_000_000).padStart(6, '0')
      await client.post('/callback/phone', { code: wrong })
      mustNot('signed in by a wrong code', await signedIn(client))
      await client.post('/callback/phone', { code })
      return signedIn(client)
    },
  },
  {
    name: 'accounts and step-up: proved again, listed, deleted',
    slow: true,
    plugins: () => [accountsPlugin() as never, stepUpPlugin() as never],
    config: () => signIn,
    async run(ground, who, mustNot) {
      const { accounts, sessions, users, stepUp } = api<AccountsApi & StepUpApi>(ground)
      const [client, other] = [await signedInAs(ground, who), await signedInAs(ground, who)]
      ground.runtime.advance(400_000)
      const old = await ground.api('require', () => stepUp.require(asks(client), { as: 'api' }))
      mustNot('an old proof is enough', old !== null && !(old instanceof Response))
      await client.post('/callback/credentials', { user: who })
      const fresh = await ground.api('require', () => stepUp.require(asks(client), { as: 'api' }))
      await ground.api('accounts', () => accounts.list(asks(client)))
      const list = await ground.api('sessions', () => sessions.list(asks(client)))
      const ended = await ground.api('revoke others', () => sessions.revokeOthers(asks(client)))
      if (ended) mustNot('another session lives', await signedIn(other))
      const gone = await ground.api('delete', () => users.delete(asks(client)))
      if (gone) mustNot('who was deleted is signed in', await signedIn(client))
      return fresh !== null && !(fresh instanceof Response) && (list?.length ?? 0) > 1 && gone === true
    },
  },
]
