/**
 * Each test of Microsoft's SCIM Validator (learn.microsoft.com, "Tutorial: Validate a SCIM endpoint"), by its name, with the requests that it sends and what it
 * compares: the answer of the change, and a GET after it. Those marked as preview are further down.
 */
import { describe, expect, it } from 'vitest'
import { createScimWorld, enterprise, groupSchema, type ScimAnswer, type Send, userSchema } from './_scim.ts'

const patchSchema = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'
let made = 0
/** A word of twelve capital letters, as the validator makes them. */
const word = (): string => Array.from({ length: 12 }, (_, at) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[(++made * 7 + at * 11) % 26]).join('')
const address = (): string => `${word().toLowerCase()}${++made}@acme.example`

/** The user that most tests begin with: every attribute, and `primary` of a role as a text. */
const fullUser = () => ({
  userName: address(),
  active: true,
  displayName: word(),
  title: word(),
  emails: [{ type: 'work', value: address(), primary: true }],
  preferredLanguage: 'hi',
  name: {
    givenName: 'Elfrieda',
    familyName: 'Urban',
    formatted: 'Myah',
    middleName: 'Cindy',
    honorificPrefix: 'Minerva',
    honorificSuffix: 'Micaela',
  },
  addresses: [
    {
      type: 'work',
      formatted: word(),
      streetAddress: '25928 Katlyn Row',
      locality: word(),
      region: word(),
      postalCode: 'cx47 4mz',
      primary: true,
      country: 'Sierra Leone',
    },
  ],
  phoneNumbers: [
    { type: 'work', value: '10-040-1308', primary: true },
    { type: 'mobile', value: '10-040-1308' },
    { type: 'fax', value: '10-040-1308' },
  ],
  [enterprise]: {
    employeeNumber: word(),
    department: word(),
    costCenter: word(),
    organization: word(),
    division: word(),
    manager: { value: word() },
  },
  roles: [{ primary: 'True', display: word(), value: word(), type: word() }],
  userType: word(),
  nickName: word(),
  locale: word(),
  timezone: 'America/Guayaquil',
  profileUrl: word(),
  schemas: [userSchema, enterprise],
})
const newGroup = () => ({ displayName: word(), externalId: crypto.randomUUID(), schemas: [groupSchema] })

async function begin() {
  const { send } = await createScimWorld()
  // It names no User-Agent, and writes the charset.
  const ask: Send = (method, path, body) => send(method, path, body, { 'content-type': 'application/scim+json; charset=utf-8' })
  const post = async (kind: 'Users' | 'Groups', body: object): Promise<ScimAnswer> => {
    const answer = await ask('POST', `/${kind}`, body)
    expect([answer.status, answer.body.detail]).toEqual([201, undefined])
    expect(answer.headers.get('content-type')).toContain('application/scim+json')
    expect(answer.headers.get('location')).toBe(answer.body.meta.location)
    expect(answer.body.meta).toMatchObject({
      resourceType: kind.slice(0, -1),
      created: expect.any(String),
      lastModified: expect.any(String),
    })
    return answer
  }
  const change = (path: string, ...Operations: object[]) => ask('PATCH', path, { schemas: [patchSchema], Operations })
  /** The answer of a user's PATCH and a GET after it say the same. */
  const changeUser = async (id: string, ...operations: object[]) => {
    const answer = await change(`/Users/${id}`, ...operations)
    expect([answer.status, answer.body?.detail]).toEqual([200, undefined])
    const read = await ask('GET', `/Users/${id}`)
    expect(read.body).toEqual(answer.body)
    return read.body
  }
  const changeGroup = async (id: string, ...operations: object[]) => {
    expect((await change(`/Groups/${id}`, ...operations)).status).toBe(204)
    return (await ask('GET', `/Groups/${id}`)).body
  }
  const find = async (kind: 'Users' | 'Groups', filter: string, more = '') => {
    const { status, body } = await ask('GET', `/${kind}?filter=${encodeURIComponent(filter).replaceAll('%20', '+')}${more}`)
    expect([status, body.schemas]).toEqual([200, [listSchema]])
    expect([body.totalResults, body.Resources.length]).toEqual([body.itemsPerPage, body.itemsPerPage])
    return body.Resources
  }
  const isGone = async (path: string) => {
    for (const method of ['GET', 'DELETE']) {
      const { status, body, headers } = await ask(method, path)
      expect([status, body.status, body.schemas, headers.get('content-type')]).toEqual([404, '404', [errorSchema], 'application/scim+json'])
    }
  }
  return { ask, post, change, changeUser, changeGroup, find, isGone }
}

describe('Users', () => {
  it('POST: create a new User', async () => {
    const { post, ask } = await begin()
    const sent = fullUser()
    const { body } = await post('Users', sent)
    expect(body).toMatchObject({ ...sent, roles: [{ ...sent.roles[0], primary: true }] })
    expect((await ask('GET', `/Users/${body.id}`)).body).toEqual(body)
  })

  it('POST: create a duplicate User', async () => {
    const { post, ask } = await begin()
    const sent = fullUser()
    await post('Users', sent)
    const { status, body, headers } = await ask('POST', '/Users', sent)
    expect([status, body.scimType, body.status, body.schemas]).toEqual([409, 'uniqueness', '409', [errorSchema]])
    expect(headers.get('content-type')).toContain('application/scim+json')
  })

  it('GET: filter for an existing user, for one of a different case, and for none', async () => {
    const { post, find } = await begin()
    const sent = fullUser()
    const { body } = await post('Users', { ...sent, externalId: '9950b140-90a0-4201-9d65-b5f209fb4cd0' })
    expect(await find('Users', `userName eq "${sent.userName}"`)).toEqual([body])
    expect(await find('Users', `userName eq "${sent.userName.toUpperCase()}"`)).toEqual([body])
    expect(await find('Users', 'externalId eq "9950b140-90a0-4201-9d65-b5f209fb4cd0"')).toEqual([body])
    expect(await find('Users', `emails[type eq "work"].value eq "${sent.emails[0]!.value}"`)).toEqual([body])
    expect(await find('Users', `userName eq "${crypto.randomUUID()}"`)).toEqual([])
  })

  it('PATCH: Replace Attributes Verbose', async () => {
    const { post, changeUser } = await begin()
    const { body } = await post('Users', fullUser())
    const [next, role] = [fullUser(), { display: word(), value: word(), type: word() }]
    const [email] = next.emails
    const [place] = next.addresses
    const { manager: _manager, ...work } = next[enterprise] as Record<string, unknown>
    const replace = (path: string, value: unknown) => ({ op: 'replace', path, value })
    const { primary: _primary, type: _type, ...placed } = place!
    const changed = await changeUser(
      body.id,
      ...['displayName', 'title', 'preferredLanguage', 'userType', 'nickName', 'locale', 'timezone', 'profileUrl'].map((name) =>
        replace(name, next[name as 'title']),
      ),
      ...Object.entries(next.name).map(([name, value]) => replace(`name.${name}`, value)),
      replace('emails[type eq "work"].value', email!.value),
      replace('emails[type eq "work"].primary', true),
      ...Object.entries(placed).map(([name, value]) => replace(`addresses[type eq "work"].${name}`, value)),
      replace('addresses[type eq "work"].primary', true),
      replace('phoneNumbers[type eq "work"].value', '1-1'),
      replace('phoneNumbers[type eq "work"].primary', true),
      replace('phoneNumbers[type eq "mobile"].value', '2-2'),
      replace('phoneNumbers[type eq "fax"].value', '3-3'),
      ...Object.entries(work).map(([name, value]) => replace(`${enterprise}:${name}`, value)),
      ...Object.entries(role).map(([name, value]) => replace(`roles[primary eq "True"].${name}`, value)),
    )
    const { userName: _userName, schemas: _schemas, [enterprise]: _enterprise, roles: _roles, ...same } = next
    expect(changed).toMatchObject({
      ...same,
      [enterprise]: work,
      roles: [{ ...role, primary: true }],
      phoneNumbers: [
        { type: 'work', value: '1-1', primary: true },
        { type: 'mobile', value: '2-2' },
        { type: 'fax', value: '3-3' },
      ],
    })
  })

  it('PATCH: Replace Attributes, with a value without a path beside paths over `primary`', async () => {
    const { post, changeUser } = await begin()
    const { body } = await post('Users', {
      schemas: [userSchema],
      userName: address(),
      emails: [{ value: address(), primary: true }],
      phoneNumbers: [{ value: '1', primary: true }],
      addresses: [{ locality: 'X', primary: true }],
    })
    const next = address()
    const changed = await changeUser(
      body.id,
      { op: 'replace', path: 'emails[primary eq true].value', value: next },
      { op: 'replace', path: 'phoneNumbers[primary eq true].value', value: '2' },
      { op: 'replace', path: 'addresses[primary eq true].locality', value: 'Y' },
      { op: 'replace', value: { externalId: 'ext', displayName: 'D', nickName: 'N', timezone: 'Europe/Paris', active: true } },
    )
    expect(changed).toMatchObject({
      externalId: 'ext',
      displayName: 'D',
      nickName: 'N',
      timezone: 'Europe/Paris',
      emails: [{ value: next, primary: true }],
      phoneNumbers: [{ value: '2', primary: true }],
      addresses: [{ locality: 'Y', primary: true }],
    })
  })

  it('PATCH: Add Attributes Verbose, to a user that has only a name', async () => {
    const { post, changeUser } = await begin()
    const { body } = await post('Users', { userName: address(), schemas: [userSchema] })
    const next = fullUser()
    const add = (path: string, value: unknown) => ({ op: 'add', path, value })
    const { manager, ...work } = next[enterprise] as { manager: { value: string } } & Record<string, unknown>
    const [place, role] = [next.addresses[0]!, next.roles[0]!]
    const changed = await changeUser(
      body.id,
      add('active', true),
      ...['displayName', 'title', 'preferredLanguage', 'userType', 'nickName', 'locale', 'timezone', 'profileUrl'].map((name) =>
        add(name, next[name as 'title']),
      ),
      add('emails[type eq "work"].value', next.emails[0]!.value),
      add('emails[type eq "work"].primary', true),
      ...Object.entries(next.name).map(([name, value]) => add(`name.${name}`, value)),
      ...Object.entries(place).flatMap(([name, value]) => (name === 'type' ? [] : [add(`addresses[type eq "work"].${name}`, value)])),
      ...next.phoneNumbers.flatMap(({ type, value, ...more }) => [
        add(`phoneNumbers[type eq "${type}"].value`, value),
        ...('primary' in more ? [add(`phoneNumbers[type eq "${type}"].primary`, true)] : []),
      ]),
      ...Object.entries(work).map(([name, value]) => add(`${enterprise}:${name}`, value)),
      add(`${enterprise}:manager`, manager.value),
      ...(['display', 'value', 'type'] as const).map((name) => add(`roles[primary eq "True"].${name}`, role[name])),
    )
    const { userName: _userName, ...same } = next
    expect(changed).toMatchObject({ ...same, roles: [{ ...role, primary: true }] })
  })

  it('PATCH: update userName', async () => {
    const { post, changeUser, find } = await begin()
    const sent = fullUser()
    const { body } = await post('Users', sent)
    const next = address()
    expect((await changeUser(body.id, { op: 'Replace', path: 'userName', value: next })).userName).toBe(next)
    expect([(await find('Users', `userName eq "${next}"`)).length, await find('Users', `userName eq "${sent.userName}"`)]).toEqual([1, []])
  })

  it('PATCH: Disable User; GET and filter have `active`', async () => {
    const { post, changeUser, find } = await begin()
    const sent = fullUser()
    const { body } = await post('Users', sent)
    expect((await changeUser(body.id, { op: 'Replace', path: 'active', value: 'False' })).active).toBe(false)
    expect((await find('Users', `userName eq "${sent.userName}"`))[0].active).toBe(false)
    expect((await changeUser(body.id, { op: 'Replace', path: 'active', value: false })).active).toBe(false)
    expect((await changeUser(body.id, { op: 'Replace', value: { active: true } })).active).toBe(true)
  })

  it('PATCH: add, replace and remove the manager', async () => {
    const { post, changeUser } = await begin()
    const { id: boss } = (await post('Users', fullUser())).body
    const { id: other } = (await post('Users', fullUser())).body
    const { body } = await post('Users', { userName: address(), schemas: [userSchema] })
    const path = `${enterprise}:manager`
    const managerOf = (user: Record<string, { manager?: unknown } | undefined>) => user[enterprise]?.manager
    expect(managerOf(await changeUser(body.id, { op: 'Add', path, value: boss }))).toEqual({ value: boss })
    expect(managerOf(await changeUser(body.id, { op: 'Replace', path, value: { value: other } }))).toEqual({ value: other })
    // An empty text and no value mean the same.
    expect(managerOf(await changeUser(body.id, { op: 'Replace', path, value: { value: '' } }))).toBeUndefined()
    expect(managerOf(await changeUser(body.id, { op: 'Add', path: `${enterprise}.manager.value`, value: boss }))).toEqual({ value: boss })
    expect(managerOf(await changeUser(body.id, { op: 'Remove', path }))).toBeUndefined()
  })

  it('DELETE: delete a User', async () => {
    const { post, ask, isGone, find } = await begin()
    const sent = fullUser()
    const { body } = await post('Users', sent)
    const answer = await ask('DELETE', `/Users/${body.id}`)
    expect([answer.status, answer.body]).toEqual([204, undefined])
    await isGone(`/Users/${body.id}`)
    expect(await find('Users', `userName eq "${sent.userName}"`)).toEqual([])
  })
})

describe('Groups', () => {
  it('POST: create a new Group, and a duplicate', async () => {
    const { post, ask } = await begin()
    const sent = newGroup()
    const { body } = await post('Groups', sent)
    expect(body).toMatchObject({ ...sent, members: [] })
    const { status, body: refused } = await ask('POST', '/Groups', sent)
    expect([status, refused.scimType, refused.status]).toEqual([409, 'uniqueness', '409'])
  })

  it('GET: by id and by filter, with and without members, in a different case, and none', async () => {
    const { post, ask, find } = await begin()
    const { id: user } = (await post('Users', fullUser())).body
    const sent = newGroup()
    const { body } = await post('Groups', { ...sent, members: [{ value: user }] })
    const members = [expect.objectContaining({ value: user })]
    expect((await ask('GET', `/Groups/${body.id}`)).body).toMatchObject({ ...sent, members })
    expect((await ask('GET', `/Groups/${body.id}?excludedAttributes=members`)).body.members).toBeUndefined()
    expect(await find('Groups', `displayName eq "${sent.displayName}"`)).toMatchObject([{ id: body.id, members }])
    const [bare] = await find('Groups', `displayName eq "${sent.displayName}"`, '&excludedAttributes=members')
    expect([bare.id, bare.members]).toEqual([body.id, undefined])
    expect(await find('Groups', `displayName eq "${sent.displayName.toLowerCase()}"`)).toMatchObject([{ id: body.id }])
    expect(await find('Groups', `externalId eq "${sent.externalId}"`)).toMatchObject([{ id: body.id }])
    expect(await find('Groups', `displayName eq "${crypto.randomUUID()}"`)).toEqual([])
  })

  it('PATCH: Replace Attributes, update displayName', async () => {
    const { post, changeGroup } = await begin()
    const { body } = await post('Groups', newGroup())
    const [externalId, displayName] = [crypto.randomUUID(), word()]
    expect(await changeGroup(body.id, { op: 'Replace', path: 'externalId', value: externalId })).toMatchObject({ externalId })
    expect(await changeGroup(body.id, { op: 'Replace', path: 'displayName', value: displayName })).toMatchObject({
      externalId,
      displayName,
    })
    expect(await changeGroup(body.id, { op: 'replace', value: { displayName: 'Again' } })).toMatchObject({ displayName: 'Again' })
  })

  it('PATCH: add a member, and remove it by a list', async () => {
    const { post, changeGroup } = await begin()
    const [one, two] = [(await post('Users', fullUser())).body.id, (await post('Users', fullUser())).body.id]
    const { body } = await post('Groups', newGroup())
    const idsOf = (group: { members: { value: string }[] }) => group.members.map(({ value }) => value).sort()
    expect(idsOf(await changeGroup(body.id, { op: 'Add', path: 'members', value: [{ $ref: null, value: one }] }))).toEqual([one])
    expect(idsOf(await changeGroup(body.id, { op: 'Add', path: 'members', value: [{ value: two }] }))).toEqual([one, two].sort())
    expect(idsOf(await changeGroup(body.id, { op: 'Remove', path: 'members', value: [{ $ref: null, value: one }] }))).toEqual([two])
    expect(idsOf(await changeGroup(body.id, { op: 'Remove', path: 'members', value: [] }))).toEqual([two])
    expect(idsOf(await changeGroup(body.id, { op: 'Remove', path: `members[value eq "${two}"]` }))).toEqual([])
    // Without a list all go, and with null, as Keycloak sends it.
    for (const value of [undefined, null]) {
      expect(idsOf(await changeGroup(body.id, { op: 'Add', path: 'members', value: [{ value: two }] }))).toEqual([two])
      expect(idsOf(await changeGroup(body.id, { op: 'Remove', path: 'members', value }))).toEqual([])
    }
  })

  it('DELETE: delete a Group', async () => {
    const { post, ask, isGone } = await begin()
    const { body } = await post('Groups', newGroup())
    expect((await ask('DELETE', `/Groups/${body.id}`)).status).toBe(204)
    await isGone(`/Groups/${body.id}`)
  })
})

describe('Preview', () => {
  it('PATCH of a User: several operations on different attributes, and on the same one: the last counts', async () => {
    const { post, changeUser } = await begin()
    const { body } = await post('Users', fullUser())
    const changed = await changeUser(
      body.id,
      { op: 'remove', path: 'nickName' },
      { op: 'add', path: 'title', value: 'one' },
      { op: 'replace', path: 'title', value: 'two' },
      { op: 'replace', path: 'displayName', value: 'three' },
    )
    expect([changed.nickName, changed.title, changed.displayName]).toEqual([undefined, 'two', 'three'])
  })

  it('PATCH of a Group: several members in several operations', async () => {
    const { post, changeGroup } = await begin()
    const ids: string[] = []
    for (let at = 0; at < 5; at++) ids.push((await post('Users', fullUser())).body.id)
    const { body } = await post('Groups', newGroup())
    const added = await changeGroup(body.id, ...ids.map((value) => ({ op: 'Add', path: 'members', value: [{ value }] })))
    expect(added.members).toHaveLength(5)
    const left = await changeGroup(body.id, ...ids.slice(1).map((value) => ({ op: 'Remove', path: 'members', value: [{ value }] })))
    expect(left.members).toMatchObject([{ value: ids[0] }])
  })

  it('DELETE of a resource that does not exist, and of the same one twice', async () => {
    const { post, ask, isGone } = await begin()
    for (const kind of ['Users', 'Groups'] as const) {
      await isGone(`/${kind}/${crypto.randomUUID()}`)
      const { body } = await post(kind, kind === 'Users' ? fullUser() : newGroup())
      expect((await ask('DELETE', `/${kind}/${body.id}`)).status).toBe(204)
      await isGone(`/${kind}/${body.id}`)
    }
  })

  it('discovers the schema: /Schemas has each attribute that it sends', async () => {
    const { ask } = await begin()
    const { body } = await ask('GET', '/Schemas')
    const attributesOf = (id: string): string[] =>
      body.Resources.find((one: { id: string }) => one.id === id).attributes.map(({ name }: { name: string }) => name)
    const { schemas: _schemas, [enterprise]: work, ...user } = fullUser()
    expect(attributesOf(userSchema)).toEqual(expect.arrayContaining(Object.keys(user)))
    expect(attributesOf(enterprise)).toEqual(expect.arrayContaining(Object.keys(work as object)))
    expect(attributesOf(groupSchema)).toEqual(expect.arrayContaining(['displayName', 'members']))
  })
})
