/** SCIM in the portal for the IT of a customer: connect, rules, differences, resync, calls; and what a link must not do. */
import { describe, expect, it } from 'vitest'
import { type PortalApi, portalPlugin } from 'authkernel/plugins/portal'
import { Client } from '../_setup.ts'
import { createScimWorld } from './_scim.ts'

async function createPortalWorld() {
  const of = await createScimWorld({ plugins: [portalPlugin()] })
  const { portal } = of.auth as unknown as PortalApi
  const open = async (organization: string, scopes?: string[]) => {
    const { url } = await portal.createLink({ system: true, base: 'http://localhost:3000/auth' }, organization, {
      email: 'it@acme.example',
      ...(scopes && { scopes }),
    })
    const client = new Client(of.auth)
    await client.get(url)
    await client.post('/portal/open', { csrfToken: await client.csrfToken() })
    const csrfToken = await client.csrfToken()
    return {
      page: async (query = '') => (await client.get(`/portal/directory${query}`)).text(),
      status: async () => (await client.get('/portal/directory')).status,
      act: (action: string, fields: Record<string, string> = {}) => client.post('/portal/directory', { csrfToken, action, ...fields }),
    }
  }
  return { ...of, open }
}

describe('the section', () => {
  it('shows address, tokens, numbers, calls and differences, and makes a token that is shown once and works', async () => {
    const { open, acme, createUser, directoryId, clientOf, auth } = await createPortalWorld()
    await createUser('ann')
    await createUser('ann')
    const { page, act } = await open(acme)
    const before = await page()
    for (const text of ['http://localhost:3000/auth/scim/v2', 'scim_…', '1 users, 0 groups', 'POST /Users', '409', 'owner@acme.example'])
      expect([text, before.includes(text)]).toEqual([text, true])
    const answer = await act('token', { directory: directoryId })
    const token = /scim_[\da-f]{64}/.exec(await answer.text())?.[0] ?? ''
    expect((await clientOf(token)('GET', '/Users')).body.totalResults).toBe(1)
    expect(await page()).not.toContain(token)
    const [first] = await auth.scim.tokens.list({ directoryId })
    await act('revoke', { directory: directoryId, token: first!.id })
    expect((await auth.scim.tokens.list({ directoryId })).map(({ id }) => id)).not.toContain(first!.id)
  })

  it('connects the first directory of an organization', async () => {
    const { open, auth, acme, directoryId, clientOf } = await createPortalWorld()
    await auth.scim.directories.delete({ id: directoryId })
    const { page, act } = await open(acme)
    expect(await page()).toContain('Connect a directory')
    expect((await act('create', { name: '' })).status).toBe(400)
    const token = /scim_[\da-f]{64}/.exec(await (await act('create', { name: 'Entra <ID>' })).text())?.[0] ?? ''
    expect((await clientOf(token)('GET', '/Users')).status).toBe(200)
    expect(await page()).toContain('Entra &lt;ID&gt;')
  })

  it('sets rules, shows what they would change, and resyncs', async () => {
    const { open, auth, acme, createUser, send, directoryId } = await createPortalWorld()
    const system = { system: true } as const
    const { id: team } = await auth.organizations.teams.create(system, acme, { name: 'Sales' })
    const { id } = (await createUser('ann')).body
    await send('POST', '/Groups', { displayName: 'Staff', members: [{ value: id }] })
    const { page, act } = await open(acme)
    await act('rule', { directory: directoryId, group: 'Staff', gives: 'role:admin' })
    await act('rule', { directory: directoryId, group: 'Staff', gives: `team:${team}` })
    const planned = await page()
    expect(planned).toMatch(/Role admin[\s\S]*Team Sales/)
    expect(planned).toMatch(/ann@acme\.example[\s\S]*changes it/)
    for (let cursor: string | null = ''; cursor !== null;) {
      const answer = await act('resync', { directory: directoryId, cursor })
      cursor = new URL(answer.headers.get('location') ?? '', 'http://localhost:3000').searchParams.get('resync')
    }
    const { members } = await auth.organizations.members(system, acme)
    expect(members.find(({ email }) => email === 'ann@acme.example')?.role).toBe('admin')
    expect(await auth.organizations.teams.members(system, acme, team)).toHaveLength(1)
    await act('unrule', { directory: directoryId, group: 'staff', gives: 'role:admin' })
    expect((await auth.scim.directories.list({ organizationId: acme }))[0]?.rules.roles).toEqual([])
  })

  it('makes no owners, touches no other organization, and needs its scope', async () => {
    const { open, auth, acme, globex, directoryId, otherDirectoryId, send } = await createPortalWorld()
    const { page, act } = await open(acme)
    expect(await page()).not.toContain('role:owner')
    for (const gives of ['role:owner', 'role:none', 'team:none', 'other:x', ''])
      expect([gives, (await act('rule', { directory: directoryId, group: 'Staff', gives })).status]).toEqual([gives, 400])
    const [foreign] = await auth.scim.tokens.list({ directoryId: otherDirectoryId })
    for (const [action, fields] of [
      ['token', {}],
      ['rotate', { token: foreign!.id }],
      ['revoke', { token: foreign!.id }],
      ['rule', { group: 'x', gives: 'role:admin' }],
      ['resync', {}],
      ['burn', {}],
    ] as const)
      expect([action, (await act(action, { directory: otherDirectoryId, ...fields })).status]).toEqual([action, 400])
    expect((await act('revoke', { directory: directoryId, token: foreign!.id })).status).toBe(400)
    expect(await auth.scim.tokens.list({ directoryId: otherDirectoryId })).toHaveLength(1)
    expect((await auth.scim.directories.list({ organizationId: globex }))[0]?.rules).toEqual({ roles: [], teams: [] })
    const narrow = await open(acme, ['domains'])
    expect(await narrow.status()).not.toBe(200)
    const tokens = (await auth.scim.tokens.list({ directoryId })).length
    await narrow.act('token', { directory: directoryId })
    expect((await auth.scim.tokens.list({ directoryId })).length).toBe(tokens)
    expect((await send('GET', '/Users')).status).toBe(200)
  })
})
