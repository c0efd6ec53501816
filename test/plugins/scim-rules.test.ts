/** Rules of a directory: teams by groups, what differs between app and directory, and a resync. */
import { describe, expect, it } from 'vitest'
import { createScimWorld } from './_scim.ts'

async function createRulesWorld(config: Parameters<typeof createScimWorld>[0] = {}) {
  const of = await createScimWorld(config)
  const { auth, acme, directoryId, send, store } = of
  const system = { system: true } as const
  const sales = (await auth.organizations.teams.create(system, acme, { name: 'Sales' })).id
  const support = (await auth.organizations.teams.create(system, acme, { name: 'Support' })).id
  const setRules = (rules: object) => auth.scim.directories.update({ id: directoryId, rules })
  const userIdOf = async (name: string) => (await store.getUserByEmail(`${name}@acme.example`))!.id
  const teamsOf = async (name: string) => {
    const userId = await userIdOf(name)
    const names: string[] = []
    for (const { id, name: team } of await auth.organizations.teams.list(system, acme))
      if ((await auth.organizations.teams.members(system, acme, id)).some((one) => one.userId === userId)) names.push(team)
    return names
  }
  const createGroup = async (displayName: string, ...ids: string[]) =>
    (await send('POST', '/Groups', { displayName, members: ids.map((value) => ({ value })) })).body.id as string
  const differences = async (more: object = {}) => {
    const found = []
    let cursor: string | undefined
    do {
      const page = await auth.scim.differences({ directoryId, cursor, limit: 2, ...more })
      found.push(...page.differences)
      cursor = page.cursor
    } while (cursor !== undefined)
    return found.filter(({ userName }) => userName !== 'owner@acme.example')
  }
  const resync = async (more: object = {}) => {
    const found = []
    let cursor: string | undefined
    do {
      const page = await auth.scim.resync({ directoryId, cursor, limit: 2, ...more })
      found.push(...page.differences)
      cursor = page.cursor
    } while (cursor !== undefined)
    return found.filter(({ userName }) => userName !== 'owner@acme.example')
  }
  return { ...of, system, sales, support, setRules, userIdOf, teamsOf, createGroup, differences, resync }
}

describe('teams', () => {
  it('have the users of their groups, and users of other ways stay', async () => {
    const { createUser, setRules, sales, support, teamsOf, createGroup, patch, send, auth, system, acme, userIdOf, store } =
      await createRulesWorld()
    const ids: Record<string, string> = {}
    for (const name of ['ann', 'bob']) ids[name] = (await createUser(name)).body.id
    await setRules({
      teams: [
        { group: 'Sales DE', team: sales },
        { group: 'sales fr', team: sales },
        { group: 'Help', team: support },
      ],
    })
    const german = await createGroup('Sales DE', ids['ann']!, ids['bob']!)
    const french = await createGroup('Sales FR', ids['ann']!)
    expect([await teamsOf('ann'), await teamsOf('bob')]).toEqual([['Sales'], ['Sales']])
    const owner = (await store.getUserByEmail('owner@acme.example'))!.id
    await auth.organizations.teams.add(system, acme, sales, owner)
    await patch(`/Groups/${german}`, { op: 'remove', path: 'members', value: [{ value: ids['ann'] }, { value: ids['bob'] }] })
    expect([await teamsOf('ann'), await teamsOf('bob'), await teamsOf('owner')]).toEqual([['Sales'], [], ['Sales']])
    // A group whose name changes falls under other rules.
    await patch(`/Groups/${french}`, { op: 'replace', path: 'displayName', value: 'Help' })
    expect(await teamsOf('ann')).toEqual(['Support'])
    await patch(`/Users/${ids['ann']}`, { op: 'replace', path: 'active', value: false })
    expect(await teamsOf('ann')).toEqual([])
    await patch(`/Users/${ids['ann']}`, { op: 'replace', path: 'active', value: true })
    expect(await teamsOf('ann')).toEqual(['Support'])
    await send('DELETE', `/Groups/${french}`)
    expect(await teamsOf('ann')).toEqual([])
    expect(await userIdOf('ann')).toBeDefined()
  })

  it('of other organizations are no rule, and a team that was deleted is left out', async () => {
    const { auth, system, globex, setRules, createUser, createGroup, sales, acme, teamsOf } = await createRulesWorld()
    const { id: foreign } = await auth.organizations.teams.create(system, globex, { name: 'Ours' })
    await expect(setRules({ teams: [{ group: 'Staff', team: foreign }] })).rejects.toThrow('no team with the id')
    await expect(setRules({ teams: [{ group: 'Staff' }] })).rejects.toThrow('needs `group` and `team`')
    await setRules({ teams: [{ group: 'Staff', team: sales }] })
    await auth.organizations.teams.delete(system, acme, sales)
    const { id } = (await createUser('ann')).body
    await createGroup('Staff', id)
    expect(await teamsOf('ann')).toEqual([])
  })

  it('and roles of a group whose name changes are those of the new name', async () => {
    const { createUser, createGroup, send, auth, system, acme, setRules, userIdOf } = await createRulesWorld()
    await setRules({ role: 'viewer', roles: [{ group: 'Admins', role: 'admin' }] })
    const { id } = (await createUser('ann')).body
    const group = await createGroup('Admins', id)
    const roleOf = async () =>
      (await auth.organizations.members(system, acme)).members.find(({ email }) => email === 'ann@acme.example')?.role
    expect(await roleOf()).toBe('admin')
    await send('PUT', `/Groups/${group}`, { displayName: 'Guests', members: [{ value: id }] })
    expect(await roleOf()).toBe('viewer')
    expect(await userIdOf('ann')).toBeDefined()
  })
})

it('an id of a group among the members is refused as a group in a group', async () => {
  const { createGroup, send } = await createRulesWorld()
  const inner = await createGroup('Inner')
  const { status, body } = await send('POST', '/Groups', { displayName: 'Outer', members: [{ value: inner }] })
  expect([status, body.detail]).toEqual([400, expect.stringContaining('Groups in groups')])
})

describe('a resync', () => {
  it('brings the app to the directory, after its dry run said the same', async () => {
    const { createUser, createGroup, setRules, sales, differences, resync, auth, system, acme, userIdOf, store, patch, teamsOf } =
      await createRulesWorld()
    const ids: Record<string, string> = {}
    for (const name of ['ann', 'bob', 'cy', 'dan', 'eve']) ids[name] = (await createUser(name)).body.id
    await createGroup('Staff', ids['ann']!)
    expect(await differences()).toEqual([])
    const rules = { role: 'viewer', roles: [{ group: 'Staff', role: 'admin' }], teams: [{ group: 'Staff', team: sales }] }
    const planned = await differences({ rules })
    expect(planned.map(({ userName, kind, app, directory }) => [userName?.split('@')[0], kind, app, directory])).toEqual(
      expect.arrayContaining([
        ['ann', 'role', 'member', 'admin'],
        ['ann', 'team', null, sales],
        ['bob', 'role', 'member', 'viewer'],
      ]),
    )
    expect(await teamsOf('ann')).toEqual([])
    await setRules(rules)
    const [bob, cy, dan] = [await userIdOf('bob'), await userIdOf('cy'), await userIdOf('dan')]
    await auth.organizations.remove(system, acme, bob)
    await auth.organizations.suspend(system, acme, cy)
    await patch(`/Users/${ids['dan']}`, { op: 'replace', path: 'active', value: false })
    await auth.organizations.restore(system, acme, dan)
    await store.updateUser({ id: await userIdOf('eve'), name: 'Mallory' })
    const done = await resync()
    const outcomes = done.map(({ userName, kind, problem }) => [userName?.split('@')[0], kind, problem === null])
    expect(outcomes).toEqual(
      expect.arrayContaining([
        ['ann', 'role', true],
        ['ann', 'team', true],
        ['bob', 'member', false],
        ['cy', 'member', false],
        ['dan', 'access', true],
        ['eve', 'name', true],
        ['eve', 'role', true],
      ]),
    )
    expect(await teamsOf('ann')).toEqual(['Sales'])
    expect((await store.getUserByEmail('eve@acme.example'))?.name).toBe('eve Doe')
    expect((await differences()).map(({ userName, resync: what }) => [userName?.split('@')[0], what]).sort()).toEqual([
      ['bob', 'restores'],
      ['cy', 'restores'],
    ])
    await resync({ restore: true })
    expect(await differences()).toEqual([])
  })

  it('leaves users of the app alone, tells of users whom the app deleted, and keeps the last owner', async () => {
    const { createUser, setRules, auth, directoryId, store, userIdOf, send } = await createRulesWorld()
    const { id } = (await createUser('ann')).body
    await createUser('bob')
    // A store without cascades, or a row that was deleted by hand.
    const getUsers = store.getUsers
    const gone = await userIdOf('bob')
    store.getUsers = async (wanted) => ((await getUsers?.(wanted)) ?? []).filter((user) => user.id !== gone)
    const page = await auth.scim.differences({ directoryId })
    expect(page.differences.filter(({ kind }) => kind === 'user')).toMatchObject([{ userId: gone, resync: 'leaves' }])
    const members = await auth.scim.differences({ directoryId, cursor: page.cursor })
    expect(members.differences).toMatchObject([
      { kind: 'unknown', userName: 'owner@acme.example', id: null, app: 'owner', resync: 'leaves' },
    ])
    expect(members.cursor).toBeUndefined()
    const owner = (await send('POST', '/Users', { userName: 'owner@acme.example' })).body.id
    await setRules({ role: 'viewer', roles: [{ group: 'none', role: 'admin' }] })
    const { differences } = await auth.scim.resync({ directoryId })
    expect(differences.find((one) => one.id === owner)).toMatchObject({
      kind: 'role',
      app: 'owner',
      problem: expect.stringContaining('last owner'),
    })
    expect(differences.find((one) => one.id === id)).toMatchObject({ kind: 'role', problem: null })
  })

  it('refuses directories, cursors and pages that are not there', async () => {
    const { auth, directoryId } = await createRulesWorld()
    await expect(auth.scim.differences({ directoryId: 'none' })).rejects.toThrow('no such directory')
    await expect(auth.scim.differences({ directoryId, cursor: 'x' })).rejects.toMatchObject({ status: 400 })
    await expect(auth.scim.differences({ directoryId, cursor: 'users x' })).rejects.toMatchObject({ status: 400 })
    await expect(auth.scim.resync({ directoryId, limit: 0 })).rejects.toThrow('from 1 to 500')
  })

  it('that races with `active: false` gives nothing back', async () => {
    const { createUser, auth, system, acme, userIdOf, directoryId, patch, signIn, isSignedIn } = await createRulesWorld()
    const { id } = (await createUser('ann')).body
    const userId = await userIdOf('ann')
    for (let round = 0; round < 5; round++) {
      await patch(`/Users/${id}`, { op: 'replace', path: 'active', value: true })
      await auth.organizations.suspend(system, acme, userId)
      await Promise.all([
        auth.scim.resync({ directoryId, restore: true }),
        patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false }),
      ])
      expect(await isSignedIn(await signIn('ann@acme.example'))).toBe(false)
      const { members } = await auth.organizations.members(system, acme)
      expect(members.find((one) => one.userId === userId)?.suspended).not.toBeNull()
    }
  })
})
