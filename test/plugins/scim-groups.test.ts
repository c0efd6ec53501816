/** Groups of a directory: their members, and the roles that they give. */
import { describe, expect, it } from 'vitest'
import { createScimWorld } from './_scim.ts'

const rules = {
  role: 'viewer',
  roles: [
    { group: 'Admins', role: 'admin' },
    { group: 'Staff', role: 'member' },
  ],
}

async function createGroups() {
  const of = await createScimWorld({ rules })
  const ids: Record<string, string> = {}
  for (const name of ['ann', 'bob', 'cy']) ids[name] = (await of.createUser(name)).body.id
  const roleOf = async (name: string) => {
    const user = await of.store.getUserByEmail(`${name}@acme.example`)
    const { members } = await of.auth.organizations.members({ system: true }, of.acme)
    return members.find(({ userId }) => userId === user?.id)?.role
  }
  const membersOf = async (id: string) =>
    ((await of.send('GET', `/Groups/${id}`)).body.members as { value: string }[]).map(({ value }) => value)
  return { ...of, ids, roleOf, membersOf }
}

describe('a group', () => {
  it('gives its members the role of the first rule that fits, and takes it back', async () => {
    const { send, patch, ids, roleOf, membersOf } = await createGroups()
    expect(await roleOf('ann')).toBe('viewer')
    const staff = (await send('POST', '/Groups', { displayName: 'Staff', members: [{ value: ids['ann'] }, { value: ids['bob'] }] })).body.id
    const admins = (await send('POST', '/Groups', { displayName: 'admins' })).body.id
    expect([await roleOf('ann'), await roleOf('bob'), await roleOf('cy')]).toEqual(['member', 'member', 'viewer'])
    expect((await patch(`/Groups/${admins}`, { op: 'Add', path: 'members', value: [{ value: ids['ann'] }] })).status).toBe(204)
    expect(await roleOf('ann')).toBe('admin')
    expect((await send('GET', `/Users/${ids['ann']}`)).body.groups.map(({ display }: { display: string }) => display).sort()).toEqual([
      'Staff',
      'admins',
    ])
    const listed = (await send('GET', '/Users')).body.Resources as { id: string; groups?: { display: string }[] }[]
    expect(
      listed
        .map(({ groups = [] }) =>
          groups
            .map(({ display }) => display)
            .sort()
            .join(),
        )
        .sort(),
    ).toEqual(['', 'Staff', 'Staff,admins'])
    expect((await send('GET', '/Users?excludedAttributes=groups')).body.Resources[0].groups).toBeUndefined()
    // As Entra ID removes members: by a list of values, or by a filter.
    await patch(`/Groups/${admins}`, { op: 'Remove', path: 'members', value: [{ value: ids['ann'] }] })
    await patch(`/Groups/${staff}`, { op: 'remove', path: `members[value eq "${ids['bob']}"]` })
    expect([await roleOf('ann'), await roleOf('bob'), await membersOf(staff)]).toEqual(['member', 'viewer', [ids['ann']]])
    await send('PUT', `/Groups/${staff}`, { displayName: 'Staff', members: [{ value: ids['cy'] }, { value: ids['bob'] }] })
    expect([await roleOf('ann'), await roleOf('cy'), (await membersOf(staff)).sort()]).toEqual([
      'viewer',
      'member',
      [ids['bob'], ids['cy']].sort(),
    ])
    expect((await send('DELETE', `/Groups/${staff}`)).status).toBe(204)
    expect([await roleOf('bob'), await roleOf('cy')]).toEqual(['viewer', 'viewer'])
  })

  it('refuses groups in groups, unknown users and a name that is taken, and stores nothing of them', async () => {
    const { send, patch, ids, membersOf } = await createGroups()
    const { id } = (await send('POST', '/Groups', { displayName: 'Staff', members: [{ value: ids['ann'] }] })).body
    const nested = await send('POST', '/Groups', { displayName: 'All', members: [{ value: id, type: 'Group' }] })
    expect([nested.status, nested.body.detail]).toEqual([400, expect.stringContaining('Groups in groups')])
    expect((await send('POST', '/Groups', { displayName: 'All', members: [{ value: 'none' }] })).status).toBe(400)
    expect((await send('POST', '/Groups', { displayName: 'STAFF' })).body.scimType).toBe('uniqueness')
    expect((await send('GET', '/Groups')).body.totalResults).toBe(1)
    const half = await patch(`/Groups/${id}`, { op: 'add', path: 'members', value: [{ value: ids['bob'] }, { value: 'none' }] })
    expect([half.status, await membersOf(id)]).toEqual([400, [ids['ann']]])
    expect(
      (await patch(`/Groups/${id}`, { op: 'add', path: 'members', value: [{ value: ids['ann'] }, { value: ids['bob'] }] })).status,
    ).toBe(204)
    expect((await membersOf(id)).sort()).toEqual([ids['ann'], ids['bob']].sort())
  })

  it('is found by name, with and without members', async () => {
    const { send, ids } = await createGroups()
    await send('POST', '/Groups', { displayName: 'Staff', externalId: 'g1', members: [{ value: ids['ann'] }] })
    const found = (await send('GET', '/Groups?filter=displayName eq "staff"&excludedAttributes=members')).body
    expect([found.totalResults, found.Resources[0].members]).toEqual([1, undefined])
    expect((await send('GET', '/Groups?filter=externalId eq "g1"')).body.Resources[0].members).toHaveLength(1)
  })

  it('a user who is removed leaves the groups', async () => {
    const { send, ids, membersOf } = await createGroups()
    const { id } = (await send('POST', '/Groups', { displayName: 'Staff', members: [{ value: ids['ann'] }, { value: ids['bob'] }] })).body
    await send('DELETE', `/Users/${ids['ann']}`)
    expect(await membersOf(id)).toEqual([ids['bob']])
  })
})
