/** RFC 7644 and RFC 9865 as an outside checker reads them: over HTTP, section by section, with nothing but the base URL and a token. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createScimWorld, enterprise, groupSchema, type ScimAnswer, type ScimWorld, userSchema } from './_scim.ts'
import { type Listener, listen, origin } from './_signals.ts'

const messages = 'urn:ietf:params:scim:api:messages:2.0'
let world: ScimWorld
let server: Listener
let base = ''

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<ScimAnswer> {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { authorization: `Bearer ${world.token}`, ...(body !== undefined && { 'content-type': 'application/scim+json' }), ...headers },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}
const get = (path: string, headers?: Record<string, string>) => call('GET', path, undefined, headers)
const patch = (path: string, ...Operations: object[]) => call('PATCH', path, { schemas: [`${messages}:PatchOp`], Operations })
const bulk = (...Operations: object[]) => call('POST', '/Bulk', { schemas: [`${messages}:BulkRequest`], Operations })
const filtered = (filter: string, kind = 'Users') => get(`/${kind}?filter=${encodeURIComponent(filter)}`)
const person = (name: string, more: object = {}) => ({ schemas: [userSchema], userName: `${name}@acme.example`, ...more })
const expectError = ({ status, headers, body }: ScimAnswer, wanted: number, scimType?: string) => {
  expect([status, body?.schemas, body?.status, body?.scimType]).toEqual([wanted, [`${messages}:Error`], String(wanted), scimType])
  expect(headers.get('content-type')).toBe('application/scim+json')
}

beforeAll(async () => {
  server = await listen((request) => world.auth.handler(request), origin)
  base = `http://127.0.0.1:${server.port}/auth/scim/v2`
})
afterAll(() => server.close())

let id = ''
beforeEach(async () => {
  world = await createScimWorld({ options: { bulk: 20 } })
  const sales = { department: 'Sales', employeeNumber: '7' }
  const work = { value: 'ann@acme.example', type: 'work', primary: true }
  const { body } = await call(
    'POST',
    '/Users',
    person('ann', { schemas: [userSchema, enterprise], emails: [work], title: 'Engineer', [enterprise]: sales }),
  )
  id = body.id
})

describe('section 3.3: creating', () => {
  it('answers 201 with the resource, Location and ETag, and 409 `uniqueness` for a duplicate', async () => {
    const { status, headers, body } = await call('POST', '/Users', person('bob', { id: 'mine', meta: { version: 'mine' } }))
    expect([status, headers.get('location'), headers.get('etag')]).toEqual([201, body.meta.location, body.meta.version])
    expect([body.id, body.meta.resourceType]).not.toContain('mine')
    expect(Date.parse(body.meta.created)).toBe(Date.parse(body.meta.lastModified))
    expectError(await call('POST', '/Users', person('bob')), 409, 'uniqueness')
    expectError(await call('POST', '/Groups', { schemas: [groupSchema] }), 400, 'invalidValue')
    expectError(await call('POST', '/Users', person('cleo', { schemas: [groupSchema] })), 400, 'invalidValue')
  })
})

describe('section 3.4: reading', () => {
  it('pages by index', async () => {
    for (const name of ['bob', 'cleo', 'dora']) await call('POST', '/Users', person(name))
    const numbers = async (query: string) => {
      const { body } = await get(`/Users?${query}`)
      return [body.totalResults, body.startIndex, body.itemsPerPage, body.Resources.length]
    }
    expect(await numbers('startIndex=2&count=2')).toEqual([4, 2, 2, 2])
    expect(await numbers('startIndex=0&count=1')).toEqual([4, 1, 1, 1])
    expect(await numbers('startIndex=-5&count=1')).toEqual([4, 1, 1, 1])
    expect(await numbers('count=0')).toEqual([4, 1, 0, 0])
    expect(await numbers('count=-3')).toEqual([4, 1, 0, 0])
    expect(await numbers('startIndex=5')).toEqual([4, 5, 0, 0])
  })

  it('pages by cursor (RFC 9865): each resource once, the last page without nextCursor', async () => {
    for (const name of ['bob', 'cleo', 'dora']) await call('POST', '/Users', person(name))
    const seen: string[] = []
    let next: string | undefined = ''
    for (let pages = 0; next !== undefined && pages < 10; pages++) {
      const { body }: ScimAnswer = await get(`/Users?count=2&cursor=${encodeURIComponent(next)}`)
      expect(body.totalResults).toBe(4)
      seen.push(...body.Resources.map((one: { id: string }) => one.id))
      next = body.nextCursor
    }
    expect([seen.length, new Set(seen).size]).toEqual([4, 4])
    for (const count of [0, -1]) {
      const { body } = await get(`/Users?cursor&count=${count}`)
      expect([body.totalResults, body.Resources, body.nextCursor]).toEqual([4, [], undefined])
    }
    expectError(await get('/Users?cursor=wrong'), 400, 'invalidCursor')
    expectError(await get('/Users?cursor&count=many'), 400, 'invalidCount')
    expect((await get('/ServiceProviderConfig')).body.pagination).toMatchObject({ cursor: true, index: true, maxPageSize: 200 })
  })

  it('filters, also by `schemas` and by attributes of extensions; a filter that is wrong is 400 `invalidFilter`', async () => {
    await call('POST', '/Users', person('bob'))
    const found = async (filter: string) => (await filtered(filter)).body.Resources.map((one: { id: string }) => one.id)
    expect(await found(`schemas eq "${enterprise}"`)).toEqual([id])
    expect(await found(`${enterprise}:department eq "sales"`)).toEqual([id])
    expect(await found(`${userSchema}:userName eq "ANN@acme.example"`)).toEqual([id])
    expect(await found('emails[type eq "work" and value co "@acme"]')).toEqual([id])
    expect(await found('not (title pr)')).toHaveLength(1)
    expect(await found('userName eq "none"')).toEqual([])
    for (const filter of ['userName', 'userName zz "a"', 'unknown eq "a"', 'active gt true', '(title pr', 'title eq', '[title pr]'])
      expectError(await filtered(filter), 400, 'invalidFilter')
    expect((await filtered(`schemas eq "${groupSchema}"`, 'Groups')).status).toBe(200)
  })

  it('shows attributes by their names, URNs and sub-attributes; `id` and `schemas` always', async () => {
    const names = async (query: string) => Object.keys((await get(`/Users/${id}?${query}`)).body).sort()
    const always = ['id', 'schemas']
    expect(await names('attributes=userName')).toEqual([...always, 'userName'])
    expect(await names('attributes=USERNAME')).toEqual([...always, 'userName'])
    expect(await names(`attributes=${userSchema}:userName`)).toEqual([...always, 'userName'])
    expect(await names(`attributes=${enterprise}`)).toEqual([...always, enterprise].sort())
    expect(await names(`attributes=${userSchema}`)).toEqual([...always, 'active', 'emails', 'title', 'userName'].sort())
    const { body } = await get(`/Users/${id}?attributes=${enterprise}:department,emails.value,meta.location`)
    expect([body[enterprise], body.emails, Object.keys(body.meta)]).toEqual([
      { department: 'Sales' },
      [{ value: 'ann@acme.example' }],
      ['location'],
    ])
    const without = (await get(`/Users/${id}?excludedAttributes=id,schemas,title,${enterprise}:department`)).body
    expect([without.id, without.title, without[enterprise]]).toEqual([id, undefined, { employeeNumber: '7' }])
    expect(without.schemas).toContain(userSchema)
    const created = await call('POST', '/Users?attributes=userName', person('bob'))
    expect(Object.keys(created.body).sort()).toEqual([...always, 'userName'])
  })

  it('searches by POST, and rejects a message of another kind', async () => {
    const search = { schemas: [`${messages}:SearchRequest`], attributes: ['userName'], filter: 'title pr', startIndex: 1, count: 10 }
    for (const path of ['/Users/.search', '/.search'])
      expect((await call('POST', path, search)).body).toMatchObject({ totalResults: 1, Resources: [{ id, userName: 'ann@acme.example' }] })
    expectError(await call('POST', '/Users/.search', { ...search, schemas: [`${messages}:PatchOp`] }), 400, 'invalidValue')
  })

  it('sorts, with what has no value last', async () => {
    for (const [name, title] of [
      ['bob', 'CTO'],
      ['cleo', undefined],
    ] as const)
      await call('POST', '/Users', person(name, { title }))
    const titles = async (order: string) =>
      (await get(`/Users?sortBy=title${order}`)).body.Resources.map(({ title }: { title?: string }) => title ?? null)
    expect(await titles('')).toEqual(['CTO', 'Engineer', null])
    expect(await titles('&sortOrder=descending')).toEqual([null, 'Engineer', 'CTO'])
  })
})

describe('section 3.5.1: replacing', () => {
  it('removes what is left out, ignores what only the server writes, and makes nothing', async () => {
    const { status, body } = await call('PUT', `/Users/${id}`, person('ann', { id: 'other', groups: [{ value: 'x' }] }))
    expect([status, body.id, body.title, body[enterprise], body.groups]).toEqual([200, id, undefined, undefined, undefined])
    expectError(await call('PUT', `/Users/${id}`, { schemas: [userSchema] }), 400, 'invalidValue')
    expectError(await call('PUT', '/Users/none', person('new')), 404)
    expect((await get('/Users')).body.totalResults).toBe(1)
  })
})

describe('section 3.5.2: changing', () => {
  const refusals: [string, object, string][] = [
    ['an unknown operation', { op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
    ['add without a value', { op: 'add', path: 'title' }, 'invalidValue'],
    ['remove without a path', { op: 'remove' }, 'noTarget'],
    ['an unknown attribute', { op: 'replace', path: 'shoes', value: 'x' }, 'invalidPath'],
    ['a required attribute that is removed', { op: 'remove', path: 'userName' }, 'mutability'],
    ['what only the server writes', { op: 'replace', path: 'meta.created', value: 'x' }, 'mutability'],
    ['`schemas`', { op: 'replace', path: 'schemas', value: [] }, 'mutability'],
    ['a filter that is wrong', { op: 'replace', path: 'emails[type eq].value', value: 'x' }, 'invalidFilter'],
    ['a filter that no value fits and that describes none', { op: 'replace', path: 'ims[value co "x"].value', value: 'y' }, 'noTarget'],
  ]
  it.each(refusals)('rejects %s, and none of the operations is done', async (_what, operation, scimType) => {
    const before = (await get(`/Users/${id}`)).body
    expectError(await patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'Changed' }, operation), 400, scimType)
    expect((await get(`/Users/${id}`)).body).toEqual(before)
  })

  it('takes value paths to values that are there and to those that are not', async () => {
    const operations = [
      { op: 'replace', path: 'emails[type eq "work"].display', value: 'Office' },
      { op: 'replace', path: 'phoneNumbers[type eq "work"].value', value: '1' },
      { op: 'add', path: `${userSchema}:addresses[type eq "work"].country`, value: 'DE' },
      { op: 'remove', path: 'ims[type eq "none"]' },
    ]
    const { status, body } = await patch(`/Users/${id}`, ...operations)
    expect([status, body.emails, body.phoneNumbers, body.addresses]).toEqual([
      200,
      [{ value: 'ann@acme.example', type: 'work', primary: true, display: 'Office' }],
      [{ type: 'work', value: '1' }],
      [{ type: 'work', country: 'DE' }],
    ])
  })

  it('takes an extension by its URN, as a whole and by attribute', async () => {
    const shown = async (...operations: object[]) => {
      const { status, body } = await patch(`/Users/${id}`, ...operations)
      expect(status).toBe(200)
      return body[enterprise]
    }
    expect(await shown({ op: 'add', path: enterprise, value: { costCenter: '12' } })).toMatchObject({
      costCenter: '12',
      department: 'Sales',
    })
    expect(await shown({ op: 'replace', value: { [`${enterprise}:division`]: 'North' } })).toMatchObject({ division: 'North' })
    expect(await shown({ op: 'remove', path: `${enterprise}:department` })).not.toHaveProperty('department')
    expect(await shown({ op: 'remove', path: enterprise })).toBeUndefined()
    expect((await get(`/Users/${id}`)).body.schemas).toEqual([userSchema])
    expectError(await patch(`/Users/${id}`, { op: 'add', path: enterprise, value: 'text' }), 400, 'invalidSyntax')
    expectError(await patch(`/Users/${id}`, { op: 'add', path: enterprise, value: { shoes: 1 } }), 400, 'invalidPath')
  })

  it('of what is so already changes neither the time nor the version', async () => {
    const group = (await call('POST', '/Groups', { schemas: [groupSchema], displayName: 'Staff', members: [{ value: id }] })).body.id
    const [user, staff] = [(await get(`/Users/${id}`)).body.meta, (await get(`/Groups/${group}`)).body.meta]
    world.runtime!.advance(5000)
    expect(
      (await patch(`/Users/${id}`, { op: 'add', path: 'title', value: 'Engineer' }, { op: 'replace', path: 'active', value: true })).body
        .meta,
    ).toEqual(user)
    expect((await patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: id }] })).status).toBe(204)
    expect((await get(`/Groups/${group}`)).body.meta).toEqual(staff)
    expect((await patch(`/Users/${id}`, { op: 'add', path: 'title', value: 'CTO' })).body.meta).not.toEqual(user)
    await patch(`/Groups/${group}`, { op: 'remove', path: `members[value eq "${id}"]` })
    expect((await get(`/Groups/${group}`)).body.meta).not.toEqual(staff)
  })

  it('is a message of its own schema', async () => {
    const body = { schemas: [userSchema], Operations: [{ op: 'replace', path: 'title', value: 'x' }] }
    expectError(await call('PATCH', `/Users/${id}`, body), 400, 'invalidValue')
  })

  it('makes one value primary', async () => {
    const { body } = await patch(`/Users/${id}`, { op: 'add', path: 'emails', value: [{ value: 'a@acme.example', primary: true }] })
    expect(body.emails.filter(({ primary }: { primary?: boolean }) => primary)).toEqual([{ value: 'a@acme.example', primary: true }])
  })
})

describe('section 3.6: deleting', () => {
  it('answers 204, then 404; the name is free again, and a search finds nothing', async () => {
    const { status, body } = await call('DELETE', `/Users/${id}`)
    expect([status, body]).toEqual([204, undefined])
    for (const method of ['GET', 'DELETE']) expectError(await call(method, `/Users/${id}`), 404)
    expectError(await patch(`/Users/${id}`, { op: 'replace', path: 'title', value: 'x' }), 404)
    expect((await filtered('userName eq "ann@acme.example"')).body.totalResults).toBe(0)
    expect((await call('POST', '/Users', person('ann'))).status).toBe(201)
  })
})

describe('section 3.7: bulk', () => {
  const creation = (bulkId: string, data: object, path = '/Users') => ({ method: 'POST', path, bulkId, data })
  const group = (bulkId: string, member: string) =>
    creation(bulkId, { schemas: [groupSchema], displayName: bulkId, members: [{ value: `bulkId:${member}` }] }, '/Groups')

  it('knows the results of earlier and of later operations', async () => {
    const { body } = await bulk(group('first', 'u1'), creation('u1', person('bob')), group('last', 'u1'))
    expect(body.schemas).toEqual([`${messages}:BulkResponse`])
    const answers = new Map(body.Operations.map((one: { bulkId: string }) => [one.bulkId, one]))
    for (const bulkId of ['first', 'u1', 'last'])
      expect(answers.get(bulkId)).toMatchObject({ status: '201', location: expect.any(String), version: 'W/"1"' })
    const bob = (await filtered('userName eq "bob@acme.example"')).body.Resources[0]
    expect(bob.groups.map(({ display }: { display: string }) => display).sort()).toEqual(['first', 'last'])
  })

  it('goes on after failures up to failOnErrors; failures have a location unless they created nothing', async () => {
    const operations = [
      creation('u1', person('ann')),
      { method: 'DELETE', path: '/Users/none' },
      { method: 'PUT', path: `/Users/${id}`, data: {} },
    ]
    const { body } = await bulk(...operations, creation('u2', person('bob')))
    expect(body.Operations.map(({ status }: { status: string }) => status)).toEqual(['409', '404', '400', '201'])
    const locations = body.Operations.map(({ location }: { location?: string }) => location?.split('/v2').at(-1))
    expect(locations.slice(0, 3)).toEqual([undefined, '/Users/none', `/Users/${id}`])
    expect(body.Operations[0].response).toMatchObject({ schemas: [`${messages}:Error`], scimType: 'uniqueness' })
    const stopped = await call('POST', '/Bulk', { schemas: [`${messages}:BulkRequest`], failOnErrors: 1, Operations: operations })
    expect(stopped.body.Operations).toHaveLength(1)
  })

  it('answers 409 for a circle, 413 for too many, and does what the features say', async () => {
    const { body } = await bulk(group('a', 'b'), group('b', 'a'), creation('u', person('bob')))
    const statuses = Object.fromEntries(body.Operations.map(({ bulkId, status }: { bulkId: string; status: string }) => [bulkId, status]))
    expect(statuses).toEqual({ a: '409', b: '409', u: '201' })
    const { maxOperations, maxPayloadSize } = (await get('/ServiceProviderConfig')).body.bulk
    expect((await bulk(...Array.from({ length: maxOperations + 1 }, () => ({ method: 'DELETE', path: '/Users/x' })))).status).toBe(413)
    expect((await call('POST', '/Bulk', `{"x":"${'y'.repeat(maxPayloadSize)}"}`)).status).toBe(413)
    expectError(await call('POST', '/Bulk', { schemas: [`${messages}:PatchOp`], Operations: [] }), 400, 'invalidValue')
  })
})

describe('sections 3.8 to 3.14, and 4', () => {
  it('have one media type for answers, and errors of SCIM for each failure', async () => {
    expect((await get('/Users')).headers.get('content-type')).toBe('application/scim+json')
    expect((await get('/Users', { accept: 'application/json' })).headers.get('content-type')).toBe('application/json')
    expectError(await call('POST', '/Users', '{'), 400, 'invalidSyntax')
    expectError(await get('/Nothing'), 404)
    expectError(await get('/Me'), 501)
    const wrong = await call('PUT', '/Users', {})
    expectError(wrong, 405)
    expect(wrong.headers.get('allow')).toBe('GET, POST')
    const anonymous = await get('/Users', { authorization: 'Bearer wrong' })
    expectError(anonymous, 401)
    expect(anonymous.headers.get('www-authenticate')).toMatch(/^Bearer/)
  })

  it('have versions: If-Match changes the one that it names, If-None-Match spares the body', async () => {
    const { headers, body } = await get(`/Users/${id}`)
    const etag = headers.get('etag') ?? ''
    expect([etag, (await get('/Users')).body.Resources[0].meta.version]).toEqual([body.meta.version, body.meta.version])
    expect((await get(`/Users/${id}`, { 'if-none-match': etag })).status).toBe(304)
    expect((await get(`/Users/${id}`, { 'if-none-match': 'W/"99"' })).status).toBe(200)
    expectError(await call('PUT', `/Users/${id}`, person('ann'), { 'if-match': 'W/"99"' }), 412)
    expectError(await call('DELETE', `/Users/${id}`, undefined, { 'if-match': 'W/"99"' }), 412)
    const changed = await call('PUT', `/Users/${id}`, person('ann'), { 'if-match': etag })
    expect([changed.status, changed.headers.get('etag') === etag]).toEqual([200, false])
    expectError(await call('PUT', `/Users/${id}`, person('ann'), { 'if-match': etag }), 412)
  })

  it('describe the server: each resource type and schema by its location, and no filter', async () => {
    for (const path of ['/ResourceTypes', '/Schemas']) {
      const { body } = await get(path)
      expect([body.schemas, body.totalResults]).toEqual([[`${messages}:ListResponse`], body.Resources.length])
      for (const { meta } of body.Resources) expect((await get(meta.location.split('/v2').at(-1))).body.meta).toEqual(meta)
      expectError(await get(`${path}?filter=id%20pr`), 403)
    }
    const types = (await get('/ResourceTypes')).body.Resources
    const schemas = (await get('/Schemas')).body.Resources.map((one: { id: string }) => one.id)
    for (const { endpoint, schema, schemaExtensions = [] } of types) {
      expect((await get(endpoint)).status).toBe(200)
      for (const one of [schema, ...schemaExtensions.map((each: { schema: string }) => each.schema)]) expect(schemas).toContain(one)
    }
  })
})

it('another organization: each endpoint answers its ids as ids that nothing has, and nothing of it changes', async () => {
  const group = (await call('POST', '/Groups', { schemas: [groupSchema], displayName: 'Staff', members: [{ value: id }] })).body.id
  const state = async () => [(await get('/Users')).body, (await get('/Groups')).body, await world.store.getUserByEmail('ann@acme.example')]
  const before = await state()
  const userId = (before[2] as { id?: string } | null)?.id ?? ''
  const own = (await world.other('POST', '/Users', { userName: 'eve@globex.example' })).body.id
  const ownGroup = (await world.other('POST', '/Groups', { displayName: 'Ours' })).body.id
  const operations = (...given: object[]) => ({ schemas: [`${messages}:PatchOp`], Operations: given })
  const requests = (foreign: string): [string, string, unknown?][] => [
    ...['Users', 'Groups'].flatMap((kind): [string, string, unknown?][] => [
      ['GET', `/${kind}/${foreign}`],
      ['PUT', `/${kind}/${foreign}`, { userName: 'x@globex.example', displayName: 'x' }],
      ['PATCH', `/${kind}/${foreign}`, operations({ op: 'replace', path: 'displayName', value: 'x' })],
      ['PATCH', `/${kind}/${foreign}`, operations({ op: 'replace', path: 'active', value: false })],
      ['DELETE', `/${kind}/${foreign}`],
      ['GET', `/${kind}?filter=${encodeURIComponent(`id eq "${foreign}"`)}`],
      ['POST', `/${kind}/.search`, { filter: `id eq "${foreign}"` }],
    ]),
    ['GET', `/Groups?filter=${encodeURIComponent(`members eq "${foreign}"`)}`],
    ['GET', `/Groups?filter=${encodeURIComponent(`members[value eq "${foreign}"]`)}`],
    ['POST', '/.search', { filter: `id eq "${foreign}"` }],
    ['POST', '/Groups', { displayName: 'New', members: [{ value: foreign }] }],
    ['PUT', `/Groups/${ownGroup}`, { displayName: 'Ours', members: [{ value: foreign }] }],
    ['PATCH', `/Groups/${ownGroup}`, operations({ op: 'add', path: 'members', value: [{ value: own }, { value: foreign }] })],
    ['PATCH', `/Groups/${ownGroup}`, operations({ op: 'remove', path: `members[value eq "${foreign}"]` })],
    ['GET', `/Schemas/${foreign}`],
    ['GET', `/Users?cursor=${foreign}`],
    [
      'POST',
      '/Bulk',
      {
        Operations: [
          { method: 'DELETE', path: `/Users/${foreign}` },
          { method: 'PATCH', path: `/Groups/${foreign}`, data: operations({ op: 'remove', path: 'members' }) },
          { method: 'POST', path: '/Groups', bulkId: 'g', data: { displayName: 'B', members: [{ value: foreign }] } },
        ],
      },
    ],
  ]
  const noneId = '0'.repeat(32)
  for (const foreign of [id, group, userId, world.acme, world.directoryId]) {
    const [theirs, none] = [requests(foreign), requests(noneId)]
    for (const [at, [method, path, body]] of theirs.entries()) {
      const answers = [await world.other(method, path, body), await world.other(none[at]![0], none[at]![1], none[at]![2])]
      const [found, absent] = answers.map((one) => [one.status, JSON.stringify(one.body)?.replaceAll(foreign, noneId)])
      expect([method, path, ...found!]).toEqual([method, path, ...absent!])
    }
  }
  expect(await state()).toEqual(before)
  expect((await world.other('GET', `/Groups/${ownGroup}`)).body.members).toEqual([])
})
