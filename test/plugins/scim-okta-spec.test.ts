/**
 * Okta's "SCIM 2.0 SPEC Test" and "SCIM 2.0 CRUD Test" (developer.okta.com, "Test your SCIM API" and "Test your Okta SCIM integration"): each step by its name, in
 * order, over HTTP, with the headers and the assertions of the suites.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createScimWorld, type ScimWorld, userSchema } from './_scim.ts'
import { type Listener, listen } from './_signals.ts'

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'
const errorSchema = 'urn:ietf:params:scim:api:messages:2.0:Error'
const origin = 'http://localhost:3000'
let world: ScimWorld
let server: Listener
beforeAll(async () => {
  world = await createScimWorld()
  server = await listen((request) => world.auth.handler(request), origin)
  // The suite needs one user.
  await world.createUser('first')
})
afterAll(async () => {
  await server.close()
  await world.auth.close()
})

/** As Runscope sends it. */
async function request(method: string, path: string, { body, token = `Bearer ${world.token}` }: { body?: object; token?: string } = {}) {
  const began = performance.now()
  const response = await fetch(`http://127.0.0.1:${server.port}/auth/scim/v2${path.replaceAll(' ', '%20').replaceAll('"', '%22')}`, {
    method,
    headers: {
      Accept: body ? 'application/scim+json; charset=utf-8' : 'application/scim+json',
      'Content-Type': body ? 'application/json' : 'application/scim+json; charset=utf-8',
      Authorization: token,
      ...(!body && { 'Accept-Charset': 'utf-8', 'User-Agent': 'OKTA SCIM Integration' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  // oxlint-disable-next-line no-explicit-any -- the answers of a protocol that tests look into
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as any, took: performance.now() - began }
}

const [userName, givenName, familyName] = ['Runscope300Abc@acme.example', 'Runscope', 'Tester']
const email = 'runscope300abc@acme.example'
const newUser = {
  schemas: [userSchema],
  userName,
  name: { givenName, familyName },
  emails: [{ primary: true, value: email, type: 'work' }],
  displayName: `${givenName} ${familyName}`,
  active: true,
}

describe.sequential('Okta SCIM 2.0 SPEC Test', () => {
  let known = ''
  let created = ''

  it('Required Test: Test Users endpoint', async () => {
    const { status, body } = await request('GET', '/Users?count=1&startIndex=1')
    expect([status, body.schemas]).toEqual([200, [listSchema]])
    for (const name of ['itemsPerPage', 'startIndex', 'totalResults']) expect([name, body[name]]).toEqual([name, expect.any(Number)])
    expect(body.Resources[0]).toMatchObject({
      id: expect.stringMatching(/./),
      name: { familyName: expect.stringMatching(/./), givenName: expect.stringMatching(/./) },
      userName: expect.stringMatching(/./),
      active: expect.any(Boolean),
      emails: [{ value: expect.stringMatching(/@/) }],
    })
    known = body.Resources[0].id
  })

  it('Required Test: Get Users/{{id}}', async () => {
    const { status, body } = await request('GET', `/Users/${known}`)
    expect([status, body.id, typeof body.userName, typeof body.active]).toEqual([200, known, 'string', 'boolean'])
  })

  it('Required Test: Test invalid User by username', async () => {
    const { status, body } = await request('GET', '/Users?filter=userName eq "abcdefgh@atko.com"')
    expect([status, body.schemas, body.totalResults]).toEqual([200, [listSchema], 0])
  })

  it.each(['Required Test: Test invalid User by ID', 'Required Test: Check status 404'])('%s', async () => {
    const { status, body } = await request('GET', '/Users/00919288221112222')
    expect([status, body.status, body.schemas, body.detail]).toEqual([404, '404', [errorSchema], expect.stringMatching(/./)])
  })

  it("Required Test: Make sure random user doesn't exist", async () => {
    const { status, body } = await request('GET', `/Users?filter=userName eq "${email}"`)
    expect([status, body.schemas, body.totalResults]).toEqual([200, [listSchema], 0])
  })

  it('Required Test: Create Okta user with realistic values', async () => {
    const { status, body } = await request('POST', '/Users', { body: newUser })
    expect([status, body]).toEqual([201, expect.objectContaining({ ...newUser, id: expect.stringMatching(/./) })])
    created = body.id
  })

  it('Required Test: Verify that user was created', async () => {
    expect((await request('GET', `/Users/${created}`)).body).toMatchObject({ userName, name: { familyName, givenName } })
  })

  it('Required Test: Expect failure when recreating user with same values', async () => {
    const again = { ...newUser, emails: [{ primary: true, value: userName, type: 'work' }] }
    expect((await request('POST', '/Users', { body: again })).status).toBe(409)
  })

  it('Required Test: Username Case Sensitivity Check', async () => {
    const { status, body } = await request('GET', `/Users?filter=userName eq "${userName.toUpperCase()}"`)
    expect([status, body.totalResults, body.Resources[0].userName]).toEqual([200, 1, userName])
  })

  it('Optional Test: Verify Groups endpoint', async () => {
    const { status, body, took } = await request('GET', '/Groups')
    expect([status, Array.isArray(body.Resources), body.totalResults]).toEqual([200, true, 0])
    expect(took).toBeLessThan(600)
  })

  it('Required Test: Check status 401', async () => {
    const { status, body } = await request('GET', `/Users?filter=userName eq "${userName}"`, { token: 'non-token' })
    expect([status, body.status, body.schemas, body.detail]).toEqual([401, '401', [errorSchema], expect.stringMatching(/./)])
  })
})

/** What Okta sends when its administrator does what the CRUD test does. */
describe.sequential('Okta SCIM 2.0 CRUD Test', () => {
  const login = 'crud.user@acme.example'
  const profile = {
    schemas: [userSchema],
    userName: login,
    name: { givenName: 'Crud', familyName: 'User' },
    emails: [{ primary: true, value: login, type: 'work' }],
    displayName: 'Crud User',
    locale: 'en-US',
    externalId: '00u1crud',
    groups: [],
    active: true,
  }
  let id = ''
  const find = async () => (await request('GET', `/Users?filter=userName eq "${login}"&startIndex=1&count=100`)).body.Resources

  it('assigns the user: looks, creates, verifies', async () => {
    expect(await find()).toEqual([])
    const { status, body } = await request('POST', '/Users', { body: { ...profile, password: '1mz050nq' } })
    expect([status, body.active, body.password]).toEqual([201, true, undefined])
    id = body.id
    expect(await find()).toMatchObject([{ id, externalId: '00u1crud' }])
  })

  it('updates the first name: reads, then replaces', async () => {
    const { body } = await request('GET', `/Users/${id}`)
    const { status } = await request('PUT', `/Users/${id}`, { body: { ...body, name: { ...body.name, givenName: 'Updated' } } })
    expect([status, (await request('GET', `/Users/${id}`)).body.name]).toEqual([200, { givenName: 'Updated', familyName: 'User' }])
  })

  it('deactivates the user, by PATCH as apps of the catalogue and by PUT as custom apps', async () => {
    const operation = {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
      Operations: [{ op: 'replace', value: { active: false } }],
    }
    expect((await request('PATCH', `/Users/${id}`, { body: operation })).body.active).toBe(false)
    const { body } = await request('GET', `/Users/${id}`)
    expect(body.active).toBe(false)
    expect((await request('PUT', `/Users/${id}`, { body: { ...body, active: false } })).status).toBe(200)
    expect(await find()).toMatchObject([{ active: false }])
  })

  it('reactivates and reassigns: the user that is there is found and switched on', async () => {
    const [found] = await find()
    expect((await request('PUT', `/Users/${found.id}`, { body: { ...found, active: true } })).body.active).toBe(true)
  })

  it('removes the app from the user: deactivated, and never deleted', async () => {
    const { body } = await request('GET', `/Users/${id}`)
    expect((await request('PUT', `/Users/${id}`, { body: { ...body, active: false } })).body).toMatchObject({ id, active: false })
  })
})
