/** Microsoft Entra ID, under both names: tenants, verified addresses, photo. */
import { describe, expect, it } from 'vitest'
import type { Provider } from 'authkernel'
import azureAd from 'authkernel/providers/azure-ad'
import microsoftEntraId, { type MicrosoftEntraIDOptions } from 'authkernel/providers/microsoft-entra-id'
import { locationOf } from '../_client.ts'
import { clientId, clientSecret } from './_expected.ts'
import { facts } from './_facts.ts'
import { createHost, origin, reason } from './_host.ts'
import { samples } from './_samples.ts'
import { createStub } from './_stub.ts'

const own = '11111111-2222-3333-4444-555555555555'
const other = '99999999-2222-3333-4444-555555555555'
const personal = '9188040d-6c67-4c5b-b112-36a304b66dad'
const login = 'https://login.microsoftonline.com'

async function signIn(
  id: string,
  options: MicrosoftEntraIDOptions,
  { tid = own, iss = tid, ...claims }: Record<string, unknown> = {},
  photo?: Response,
) {
  const preset = id === 'azure-ad' ? azureAd : microsoftEntraId
  const provider = preset({ clientId, clientSecret, ...options })
  const named = /\.com\/([^/]+)\//.exec(String(options.issuer ?? provider.issuer))![1]!
  const fact = facts.find((known) => known.id === id)!
  const stub = createStub({ ...fact, issuer: `${login}/${named}/v2.0` }, samples[id]!, { ...samples[id]!.sparse, ...claims, tid })
  stub.issuer = `${login}/${String(iss)}/v2.0`
  const published = ['common', 'organizations'].includes(named) ? '{tenantid}' : named === 'consumers' ? personal : named
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { href, host } = new URL(input instanceof Request ? input.url : input)
    if (host === 'graph.microsoft.com' && photo) return photo
    const response = await stub.fetch(input, init)
    return href === stub.discovery ? Response.json({ ...(await response.json()), issuer: `${login}/${published}/v2.0` }) : response
  }
  const host = createHost(provider as Provider, fetch)
  stub.now = host.now()
  const authorization = await host.start()
  stub.nonce = authorization.searchParams.get('nonce') ?? undefined
  const response = await host.back(authorization)
  return { host, stub, location: locationOf(response), reason: host.errors.length > 0 ? reason(host.errors) : undefined }
}

describe.each(['microsoft-entra-id', 'azure-ad'])('row 210: %s, tenants', (id) => {
  it.each([
    ['common', own],
    ['common', personal],
    ['organizations', own],
    ['consumers', personal],
    [own, own],
  ])('%s admits %s', async (tenantId, tid) => {
    expect(await signIn(id, { tenantId }, { tid })).toMatchObject({ location: origin, reason: undefined })
  })

  it.each([
    ['organizations', personal, 'does not belong to organizations'],
    ['consumers', own, 'does not belong to consumers'],
    ['common', 'contoso.onmicrosoft.com', 'names no tenant'],
    ['common', '', 'names no tenant'],
    ['common', '../evil', 'names no tenant'],
  ])('%s refuses %s', async (tenantId, tid, why) => {
    const result = await signIn(id, { tenantId }, { tid, iss: own })
    expect(result.location).toContain('/auth/error')
    expect(result.reason).toContain(why)
  })

  it('a token of another tenant is refused where one tenant is named', async () => {
    const result = await signIn(id, { tenantId: own }, { tid: other })
    expect(result.location).toContain('/auth/error')
    expect(result.reason).toMatch(/iss/)
  })

  it('a token whose issuer and tenant differ is refused', async () => {
    const result = await signIn(id, { tenantId: 'common' }, { tid: own, iss: other })
    expect(result.location).toContain('/auth/error')
    expect(result.reason).toMatch(/iss/)
  })

  it('allowedTenants keeps all others out, and says how to admit them', async () => {
    expect(await signIn(id, { allowedTenants: [own] })).toMatchObject({ location: origin })
    const result = await signIn(id, { allowedTenants: [own] }, { tid: other })
    expect(result.location).toContain('/auth/error')
    expect(result.reason).toBe(`Provider "${id}": tenant ${other} may not sign in; add it to allowedTenants`)
  })

  it('an issuer says the same as a tenant id', async () => {
    expect(await signIn(id, { issuer: `${login}/${own}/v2.0` })).toMatchObject({ location: origin })
    expect(await signIn(id, { issuer: `${login}/organizations/v2.0` }, { tid: other })).toMatchObject({ location: origin })
  })

  it('a tenant named by its domain is refused with the remedy', async () => {
    const result = await signIn(id, { tenantId: 'contoso.onmicrosoft.com' })
    expect(result.reason).toContain('must name the tenant by its id')
  })
})

describe('photo', () => {
  it('is a data: URL of the size asked for', async () => {
    const { host } = await signIn('microsoft-entra-id', {})
    expect(host.asked().user.image).toBe('data:image/jpeg;base64,/9j/')
    const large = await signIn('microsoft-entra-id', { profilePhotoSize: 360 })
    expect(large.stub.seen.other.map(({ url }) => url.pathname)).toEqual(['/v1.0/me/photos/360x360/$value'])
    expect(large.stub.seen.other[0]!.headers.get('authorization')).toBe('Bearer access-token-1')
  })

  it.each([404, 500])('status %s: none, and the sign-in goes on', async (status) => {
    const { host, location } = await signIn('microsoft-entra-id', {}, {}, new Response('no', { status }))
    expect(location).toBe(origin)
    expect(host.asked().user.image).toBeNull()
  })

  it('is not asked for when switched off', async () => {
    const { stub, host } = await signIn('microsoft-entra-id', { profilePhotoSize: false })
    expect(stub.seen.other).toEqual([])
    expect(host.asked().user.image).toBeNull()
  })
})

describe('D33: verified addresses', () => {
  const { emailVerified } = microsoftEntraId()
  it.each([
    [{ xms_edov: true }, true],
    [{ xms_edov: '1' }, true],
    [{ xms_edov: 1 }, true],
    [{ xms_edov: false }, false],
    [{ xms_edov: '0' }, false],
    [{ email_verified: false }, false],
    [{}, undefined],
  ])('%j', (claims, verified) => {
    expect(emailVerified?.({ sub: 'x', ...claims }, {})).toBe(verified)
  })
})
