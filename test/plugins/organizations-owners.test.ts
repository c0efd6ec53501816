/** Users who are deleted: the last owner stays, or hands over, whatever asks for the deletion. */
import { describe, expect, it } from 'vitest'
import { type, world } from './_organizations.ts'

const system = { system: true } as const

describe('the last owner is not deleted', () => {
  it('by the server API, and nothing of the user is gone', async () => {
    const { auth, found, store } = await world()
    const id = await found({ bob: 'admin', cy: 'member' })
    const second = await found({ ada: 'owner' }, 'bob')
    expect(await type(auth.users.delete({ userId: 'ada' }))).toBe('LastOwner')
    expect(await store.getUser('ada')).not.toBeNull()
    // Also where there is another owner: the first question writes nothing.
    for (const one of [id, second]) expect(await auth.organizations.get({ userId: 'ada' }, one)).toMatchObject({ role: 'owner' })
    await auth.organizations.setRole({ userId: 'ada' }, id, 'bob', 'owner')
    expect(await auth.users.delete({ userId: 'ada' })).toBe(true)
    const { members } = await auth.organizations.members(system, id)
    expect(members.map(({ userId, role }) => `${userId} ${role}`).toSorted()).toEqual(['bob owner', 'cy member'])
    expect(await type(auth.users.delete({ userId: 'bob' }))).toBe('LastOwner')
    await auth.organizations.delete({ userId: 'bob' }, id)
    await auth.organizations.delete({ userId: 'bob' }, second)
    expect(await auth.users.delete({ userId: 'bob' })).toBe(true)
  })

  it('and what a person who is deleted had offered is offered no more, whatever others invited', async () => {
    const { auth, found } = await world()
    const id = await found({ bob: 'admin', cy: 'admin' })
    await auth.organizations.invite({ userId: 'bob' }, id, { email: 'one@example.com' })
    await auth.organizations.invite({ userId: 'cy' }, id, { email: 'two@example.com' })
    await auth.organizations.invite(system, id, { email: 'three@example.com' })
    expect(await auth.users.delete({ userId: 'bob' })).toBe(true)
    const open = await auth.organizations.invitations({ userId: 'ada' }, id)
    expect(open.map(({ email }) => email).toSorted()).toEqual(['three@example.com', 'two@example.com'])
  })

  it('on the account page, which says what to do', async () => {
    const { auth, browser, found, store } = await world()
    const id = await found({ bob: 'member' })
    const ada = await browser('ada')
    const refused = await ada.post('/account/delete', {})
    expect(refused.headers.get('location')).toBe('http://localhost:3000/auth/account/delete?error=LastOwner')
    const page = await ada.get('/account/delete?error=LastOwner')
    expect(page.status).toBe(409)
    expect(await page.text()).toContain('Make another member owner first, or delete the organization.')
    expect((await ada.session())?.user?.id).toBe('ada')
    expect(await store.getUser('ada')).not.toBeNull()
    await auth.organizations.setRole({ userId: 'ada' }, id, 'bob', 'owner')
    await ada.post('/account/delete', {})
    expect(await store.getUser('ada')).toBeNull()
  })

  it('when another plugin or the host refuses, no user has lost an organization', async () => {
    const { auth, found, store } = await world()
    const id = await found({ bob: 'owner' })
    const takeBack = auth.hook('deleteUser', ({ userId }) => userId !== 'ada')
    expect(await type(auth.users.delete({ userId: 'ada' }))).toBe('AccessDenied')
    expect(await auth.organizations.get({ userId: 'ada' }, id)).toMatchObject({ role: 'owner' })
    takeBack()
    expect(await auth.users.delete({ userId: 'ada' })).toBe(true)
    expect(await store.getUser('ada')).toBeNull()
  })

  it('of all owners who are deleted at the same moment one stays', async () => {
    const { auth, found, store } = await world()
    const id = await found({ bob: 'owner', cy: 'owner', dan: 'member' })
    const ends = await Promise.all(['ada', 'bob', 'cy'].map((userId) => type(auth.users.delete({ userId }))))
    expect(ends.filter((end) => end === 'LastOwner')).toHaveLength(1)
    const { members } = await auth.organizations.members(system, id, { role: 'owner' })
    expect(members).toHaveLength(1)
    expect(await store.getUser(members[0]!.userId)).not.toBeNull()
  })
})

describe("with ownerDeleted: 'handOver'", () => {
  it('the member with the most permissions becomes owner, of several the one who joined first', async () => {
    const { auth, found, store, told, runtime } = await world('database', { ownerDeleted: 'handOver' })
    const id = await found()
    for (const [user, role] of [
      ['cy', 'viewer'],
      ['dan', 'admin'],
      ['bob', 'admin'],
    ] as const) {
      runtime.advance(1000)
      await auth.organizations.add(system, id, user, role)
    }
    const alone = await found()
    expect(await auth.users.delete({ userId: 'ada' })).toBe(true)
    const { members } = await auth.organizations.members(system, id)
    expect(members.map(({ userId, role }) => `${userId} ${role}`)).toEqual(['cy viewer', 'dan owner', 'bob admin'])
    expect(told).toEqual(expect.arrayContaining(['transferred null', 'deleted null']))
    expect(await type(auth.organizations.members(system, alone))).toBe('NoSuchOrganization')
    // A plain member is deleted as ever.
    expect(await auth.users.delete({ userId: 'cy' })).toBe(true)
    expect(await store.getUser('cy')).toBeNull()
  })

  it('one of the members gets it, when the owner goes while others go', async () => {
    const { auth, found } = await world('database', { ownerDeleted: 'handOver' })
    const id = await found({ bob: 'owner', cy: 'member', dan: 'member' })
    await Promise.all(['ada', 'bob', 'cy'].map((userId) => type(auth.users.delete({ userId }))))
    const { members } = await auth.organizations.members(system, id)
    expect(members.map(({ userId, role }) => `${userId} ${role}`)).toEqual(['dan owner'])
  })
})
