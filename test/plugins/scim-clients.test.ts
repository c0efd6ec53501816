/** SCIM with OAuth client credentials: tokens of the own authorization server, got by openid-client. */
import * as openid from 'openid-client'
import { describe, expect, it } from 'vitest'
import { authorizationServerPlugin } from 'authkernel/plugins/authorization-server'
import { jwtPlugin } from 'authkernel/plugins/jwt'
import { createScimWorld } from './_scim.ts'

const audience = 'http://localhost:3000/auth/scim/v2'
const secret = 's'.repeat(40)
const scopes = ['scim.read', 'scim.write']
const ownClient = (client_id: string, more: object = {}) => ({
  client_id,
  client_name: client_id,
  client_secret: secret,
  grant_types: ['client_credentials' as const],
  ...more,
})

async function createClientWorld(format: 'opaque' | 'jwt' = 'opaque') {
  const server = authorizationServerPlugin({
    clients: [
      ownClient('okta'),
      ownClient('reader', { scope: 'scim.read' }),
      ownClient('globex'),
      ownClient('stranger'),
      { client_id: 'spa', client_name: 'SPA', redirect_uris: ['https://spa.example/cb'] },
    ],
    resources: [
      { resource: audience, scopes, format },
      { resource: 'https://api.example/', scopes: ['read'] },
    ],
  })
  const of = await createScimWorld({ plugins: [jwtPlugin(), server], now: Date.now() })
  const { auth, directoryId, otherDirectoryId } = of
  await auth.scim.clients.connect({ directoryId, clientId: 'okta' })
  await auth.scim.clients.connect({ directoryId, clientId: 'reader' })
  await auth.scim.clients.connect({ directoryId: otherDirectoryId, clientId: 'globex' })
  const tokenOf = async (client: string, parameters: Record<string, string> = { resource: audience, scope: 'scim.write' }) => {
    const fetch: openid.CustomFetch = async (url, init) => auth.handler(new Request(url, init as RequestInit))
    const configuration = await openid.discovery(new URL('http://localhost:3000/auth'), client, secret, openid.ClientSecretBasic(secret), {
      [openid.customFetch]: fetch,
      execute: [openid.allowInsecureRequests],
    })
    return (await openid.clientCredentialsGrant(configuration, parameters)).access_token
  }
  const user = { userName: 'ann@acme.example', active: true }
  return { ...of, tokenOf, user }
}

describe.each(['opaque', 'jwt'] as const)('a client with %s tokens', (format) => {
  it('speaks for the directory that it is connected to, and for no other one', async () => {
    const { tokenOf, clientOf, user, auth, directoryId, changes, acme } = await createClientWorld(format)
    const okta = clientOf(await tokenOf('okta'))
    const { status, body } = await okta('POST', '/Users', user)
    expect([status, changes]).toMatchObject([201, [{ act: 'user.created', organizationId: acme, directoryId }]])
    const globex = clientOf(await tokenOf('globex'))
    for (const [method, sent] of [
      ['GET', undefined],
      ['PUT', user],
      ['PATCH', { Operations: [{ op: 'replace', path: 'active', value: false }] }],
      ['DELETE', undefined],
    ] as const)
      expect([method, (await globex(method, `/Users/${body.id}`, sent)).status]).toEqual([method, 404])
    expect((await globex('POST', '/Users', user)).status).toBe(400)
    expect((await okta('GET', `/Users/${body.id}`)).body.active).toBe(true)
    const listed = await auth.scim.clients.list({ directoryId })
    expect(listed.map(({ clientId }) => clientId).sort()).toEqual(['okta', 'reader'])
  })

  it('is refused without the audience, the scope or a directory, and when it was disconnected', async () => {
    const { tokenOf, clientOf, user, auth, directoryId, otherDirectoryId, globex } = await createClientWorld(format)
    const post = async (token: string) => clientOf(token)('POST', '/Users', user)
    expect((await post(await tokenOf('okta', { resource: 'https://api.example/', scope: 'read' }))).status).toBe(401)
    const reader = await tokenOf('reader', { resource: audience, scope: 'scim.read' })
    const refused = await post(reader)
    expect([refused.status, refused.headers.get('www-authenticate'), refused.body.schemas]).toEqual([
      403,
      expect.stringContaining('insufficient_scope'),
      ['urn:ietf:params:scim:api:messages:2.0:Error'],
    ])
    expect((await clientOf(reader)('GET', '/Users')).status).toBe(200)
    const stranger = await post(await tokenOf('stranger'))
    expect([stranger.status, stranger.body.detail]).toEqual([403, 'This client is connected to no directory.'])
    const okta = await tokenOf('okta')
    expect(await auth.scim.clients.disconnect({ directoryId: otherDirectoryId, clientId: 'okta' })).toBe(false)
    expect((await clientOf(okta)('GET', '/Users')).status).toBe(200)
    expect(await auth.scim.clients.disconnect({ directoryId, clientId: 'okta' })).toBe(true)
    expect((await clientOf(okta)('GET', '/Users')).status).toBe(403)
    const other = await tokenOf('globex')
    await auth.organizations.delete({ system: true }, globex)
    expect((await clientOf(other)('GET', '/Users')).status).toBe(403)
    expect((await clientOf('garbage')('GET', '/Users')).status).toBe(401)
  })
})

it('one client speaks for one directory; others are refused when they are connected', async () => {
  const { auth, directoryId, otherDirectoryId } = await createClientWorld()
  const connect = (clientId: string, id = directoryId) => auth.scim.clients.connect({ directoryId: id, clientId })
  await expect(connect('okta', otherDirectoryId)).rejects.toThrow('connected to a directory already')
  await expect(connect('none')).rejects.toThrow('no such client')
  await expect(connect('spa')).rejects.toThrow('no such client with the grant type client_credentials')
  await expect(connect('stranger', 'none')).rejects.toThrow('no such directory')
  const { auth: without, directoryId: id } = await createScimWorld()
  await expect(without.scim.clients.connect({ directoryId: id, clientId: 'okta' })).rejects.toThrow('need authorizationServerPlugin')
})

it('the features name OAuth where there is an authorization server', async () => {
  const { clientOf, tokenOf } = await createClientWorld()
  const types = async (send: ReturnType<typeof clientOf>) =>
    (await send('GET', '/ServiceProviderConfig')).body.authenticationSchemes.map(({ type }: { type: string }) => type)
  expect(await types(clientOf(await tokenOf('okta')))).toEqual(['oauthbearertoken', 'oauth2'])
  expect(await types((await createScimWorld()).send)).toEqual(['oauthbearertoken'])
})
