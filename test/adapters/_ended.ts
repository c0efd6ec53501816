/** What a ban and a removal from an organization end at machines: one host acts, and another host over the same store is asked. */
import { createAuth } from 'authkernel'
import type { Adapter, Auth, Plugin } from 'authkernel/kernel'
import { type AdminApi, adminPlugin } from 'authkernel/plugins/admin'
import { type ApiKeysApi, apiKeysPlugin } from 'authkernel/plugins/api-keys'
import { type BearerApi, bearerPlugin } from 'authkernel/plugins/bearer'
import { deviceFlowPlugin } from 'authkernel/plugins/device-flow'
import { type OrganizationsApi, organizationsPlugin } from 'authkernel/plugins/organizations'
import * as openid from 'openid-client'
import { expect } from 'vitest'
import { Client } from '../_setup.ts'
import { begin, discover, finish, origin, refusal, signIn, ticketOf, visit } from '../plugins/_app.ts'

type Host = Auth<AdminApi & ApiKeysApi & BearerApi & OrganizationsApi>
const redirectUri = 'http://127.0.0.1/cb'
const system = { system: true } as const

const postbox: Plugin = { name: 'postbox', setup: (kernel) => kernel.provide('mailTransport', { send: () => {} }) }

function hostOver(adapter: Adapter): Host {
  return createAuth({
    secret: 'one-secret-of-all-processes-of-forty-letters',
    trustHost: true,
    env: false,
    logger: { error() {}, warn() {} },
    adapter,
    session: { strategy: 'database' },
    providers: [{ id: 'credentials', name: 'P', type: 'credentials', authorize: ({ user }) => ({ id: String(user), name: String(user) }) }],
  })
    .use(postbox)
    .use(adminPlugin({ can: () => true }))
    .use(organizationsPlugin())
    .use(apiKeysPlugin())
    .use(bearerPlugin({ apps: [{ id: 'desktop', name: 'Acme', redirectUris: [redirectUri], scopes: ['read'] }] }))
    .use(deviceFlowPlugin({ apps: ['desktop'] }))
}

/** Makes users `mia` and `root` of its own. */
export async function expectRightsToEnd(adapter: Required<Adapter>): Promise<void> {
  const [acts, asked] = [hostOver(adapter), hostOver(adapter)]
  await acts.ready()
  for (const id of ['mia', 'root']) await adapter.createUser({ id, email: `${id}@example.org`, name: id, emailVerified: new Date(0) })
  const browser = new Client(asked)
  await browser.post('/callback/credentials', { user: 'mia' })
  const config = await discover(asked)
  const tokens = await signIn(config, browser)
  const begun = await begin(config)
  const location = await visit(browser, begun.url)
  const device = await openid.initiateDeviceAuthorization(config, {})
  const ticket = ticketOf(await (await browser.post('/device', { user_code: device.user_code })).text())
  await browser.post('/device/decide', { ticket, decision: 'allow' })
  const { id: organization } = await acts.organizations.create({ userId: 'root' }, { name: 'O' })
  await acts.organizations.add(system, organization, 'mia', 'member')
  const own = await asked.apiKeys.create({ userId: 'mia' }, { name: 'own' })
  const bound = await asked.apiKeys.create({ userId: 'mia' }, { name: 'bound', organization })
  const opens = async (headers: Record<string, string>): Promise<boolean> =>
    (await asked.session(new Request(origin, { headers })))?.user?.name === 'mia'
  const held = async (): Promise<boolean[]> => [
    await opens({ cookie: browser.cookieHeader() }),
    await opens({ 'x-api-key': own.key }),
    await opens({ 'x-api-key': bound.key }),
    await opens({ authorization: `Bearer ${tokens.access_token}` }),
  ]
  expect(await held()).toEqual([true, true, true, true])
  await acts.organizations.remove(system, organization, 'mia')
  expect(await held()).toEqual([true, true, false, true])
  await acts.organizations.add(system, organization, 'mia', 'member')
  expect(await held()).toEqual([true, true, false, true])
  await acts.admin.ban({ userId: 'root' }, 'mia', { reason: 'spam' })
  expect(await held()).toEqual([false, false, false, false])
  expect(await refusal(openid.refreshTokenGrant(config, tokens.refresh_token!))).toBe('invalid_grant')
  expect(await refusal(finish(config, begun, location))).toBe('invalid_grant')
  expect(await refusal(openid.pollDeviceAuthorizationGrant(config, { ...device, interval: 0.01 }))).toBe('invalid_grant')
}
