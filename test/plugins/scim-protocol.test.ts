/** SCIM as a protocol: filters, PATCH, pages, versions, descriptions, bulk, and what hostile clients send. */
import { memoryAdapter, memoryData } from 'authkernel/plugins/memory'
import { describe, expect, it } from 'vitest'
import { createScimWorld, enterprise, groupSchema, type Send, userSchema } from './_scim.ts'

const list = async (send: Send, query: string) => (await send('GET', `/Users?${query}`)).body
const names = async (send: Send, filter: string) =>
  (await list(send, `filter=${encodeURIComponent(filter)}`)).Resources.map((one: { userName: string }) => one.userName.split('@')[0]).sort()

describe('a filter', () => {
  it('has the whole grammar of RFC 7644', async () => {
    const { send, createUser } = await createScimWorld()
    await createUser('ann', {
      title: 'Engineer',
      emails: [
        { value: 'ann@acme.example', type: 'work' },
        { value: 'a@home.example', type: 'home' },
      ],
    })
    await createUser('bob', { title: 'Manager', nickName: 'Bobby', [enterprise]: { department: 'Sales' } })
    await createUser('cy', { active: false })
    expect(await names(send, 'title pr')).toEqual(['ann', 'bob'])
    expect(await names(send, 'not (title pr)')).toEqual(['cy'])
    expect(await names(send, 'title eq "engineer" or nickName sw "bob"')).toEqual(['ann', 'bob'])
    expect(await names(send, 'userName ew "acme.example" and (active eq true and title ne "Manager")')).toEqual(['ann'])
    expect(await names(send, 'active eq false')).toEqual(['cy'])
    expect(await names(send, 'active eq "False"')).toEqual(['cy'])
    expect(await names(send, 'emails[type eq "home" and value co "home.example"]')).toEqual(['ann'])
    expect(await names(send, 'emails[type eq "home" and value co "acme"]')).toEqual([])
    expect(await names(send, 'emails.value eq "a@home.example"')).toEqual(['ann'])
    expect(await names(send, 'emails co "home.example"')).toEqual(['ann'])
    expect(await names(send, `${enterprise}:department eq "sales"`)).toEqual(['bob'])
    expect(await names(send, `${userSchema}:name.givenName gt "ann"`)).toEqual(['bob', 'cy'])
    expect(await names(send, 'meta.created ge "1970-01-01T00:00:00Z" and name.familyName le "doe"')).toEqual(['ann', 'bob', 'cy'])
    expect(await names(send, 'nickName eq null')).toEqual(['ann', 'cy'])
    expect(await names(send, 'USERNAME EQ "Ann@Acme.Example" AND title pr')).toEqual(['ann'])
  })

  it.each([
    ['userName', 'cannot be read'],
    ['userName eq', 'cannot be read'],
    ['userName eq "x" garbage', 'cannot be read'],
    ['nothing eq "x"', 'names "nothing"'],
    ['__proto__ eq "x"', 'names "__proto__"'],
    ['emails[constructor eq "x"]', 'names "constructor"'],
    ['emails[type eq "work"][value eq "x"]', 'cannot be read'],
    [`${'('.repeat(900)}title pr${')'.repeat(900)}`, ''],
    [`${'not ('.repeat(30)}title pr${')'.repeat(30)}`, 'nested deeper'],
    [Array.from({ length: 60 }, () => 'title pr').join(' or '), 'more than 50 conditions'],
    [`title eq "${'x'.repeat(2000)}"`, 'longer than 2000'],
    [`title eq "${'\n'.repeat(40)}`, 'control characters'],
    ['active gt true', 'no order'],
  ])('that is wrong is refused quickly: %s', async (filter, words) => {
    const { send } = await createScimWorld()
    const before = process.cpuUsage()
    const { status, body } = await send('GET', `/Users?filter=${encodeURIComponent(filter)}`)
    const { user } = process.cpuUsage(before)
    expect([status, body.scimType ?? 'none', body.detail ?? '']).toEqual(
      words === '' ? [expect.any(Number), expect.anything(), expect.any(String)] : [400, 'invalidFilter', expect.stringContaining(words)],
    )
    expect(status).toBeLessThan(500)
    expect(user).toBeLessThan(2_000_000)
  })

  it('by each email of a user is served in a directory of any size', async () => {
    const data = memoryData()
    const { send, createUser } = await createScimWorld({ adapter: memoryAdapter(data) })
    await createUser('ann', { emails: [{ value: 'Ann@acme.example', type: 'work', primary: true }, { value: 'a@home.example' }] })
    await createUser('bob')
    const all = ['emails eq', 'emails.value eq', 'emails[type eq "work"].value eq'].map((path) => `${path} "ann@ACME.example"`)
    const second = 'emails.value eq "a@home.example"'
    for (const filter of [...all, second, 'emails[value eq "ann@acme.example" and primary eq true]'])
      expect([filter, await names(send, filter)]).toEqual([filter, ['ann']])
    expect(await names(send, 'emails[type eq "home" and value eq "ann@acme.example"]')).toEqual([])
    for (const row of data.records?.get('scimDirectory')?.values() ?? []) Object.assign(row, { users: 20_000 })
    for (const filter of [...all, second]) expect([filter, await names(send, filter)]).toEqual([filter, ['ann']])
    // Else a directory could create no new user.
    expect(await names(send, 'emails.value eq "new@acme.example"')).toEqual([])
    expect((await send('GET', '/Users?filter=title pr')).body.scimType).toBe('tooMany')
  })

  it('by email finds who has it as first and who has it as second email, and follows each change', async () => {
    const { send, other, createUser, patch, auth, directoryId } = await createScimWorld()
    const shared = { value: 'Team@acme.example', type: 'other' }
    const own = (name: string) => ({ value: `${name}@acme.example`, type: 'work', primary: true })
    const { body: ann } = await createUser('ann', { emails: [own('ann'), shared, { value: 'ａ@home.example' }] })
    const { body: bob } = await createUser('bob', { emails: [own('bob')] })
    await createUser('team', { emails: [own('team')] })
    const filter = 'emails.value eq "team@acme.example"'
    expect(await names(send, filter)).toEqual(['ann', 'team'])
    expect(await names(send, 'emails[type eq "other"].value eq "team@acme.example"')).toEqual(['ann'])
    expect(await names(other, filter)).toEqual([])
    await patch(`/Users/${bob.id}`, { op: 'add', path: 'emails', value: [shared] })
    expect(await names(send, filter)).toEqual(['ann', 'bob', 'team'])
    await patch(`/Users/${ann.id}`, { op: 'remove', path: 'emails[type eq "other"]' })
    expect(await names(send, filter)).toEqual(['bob', 'team'])
    // A change that is refused leaves the index as it was.
    const taken = { op: 'replace', path: 'emails', value: [{ value: 'x@globex.example', primary: true }] }
    expect((await patch(`/Users/${bob.id}`, taken)).status).toBe(400)
    expect(await names(send, filter)).toEqual(['bob', 'team'])
    await send('DELETE', `/Users/${bob.id}`)
    expect(await names(send, filter)).toEqual(['team'])
    await auth.scim.directories.delete({ id: directoryId })
  })

  it('over a password is refused', async () => {
    const { send } = await createScimWorld()
    expect((await send('GET', '/Users?filter=password sw "a"')).status).toBe(403)
  })
})

describe('PATCH', () => {
  it('adds, replaces and removes attributes, values of lists and parts of them', async () => {
    const { createUser, patch, send } = await createScimWorld()
    const { id } = (await createUser('ann', { title: 'Engineer' })).body
    const change = async (...operations: object[]) => (await patch(`/Users/${id}`, ...operations)).body
    expect((await change({ op: 'add', path: 'nickName', value: 'Annie' })).nickName).toBe('Annie')
    expect((await change({ op: 'remove', path: 'title' })).title).toBeUndefined()
    expect((await change({ op: 'replace', path: 'name.familyName', value: 'Smith' })).name).toEqual({
      givenName: 'ann',
      familyName: 'Smith',
    })
    const phone = { value: '+1', type: 'mobile', primary: true }
    expect((await change({ op: 'add', path: 'phoneNumbers', value: [phone] })).phoneNumbers).toEqual([phone])
    const both = await change({ op: 'add', value: { phoneNumbers: [{ value: '+2', type: 'work', primary: true }] } })
    expect(both.phoneNumbers).toEqual([
      { ...phone, primary: false },
      { value: '+2', type: 'work', primary: true },
    ])
    expect((await change({ op: 'remove', path: 'phoneNumbers[type eq "work"]' })).phoneNumbers).toEqual([{ ...phone, primary: false }])
    expect((await change({ op: 'replace', path: 'phoneNumbers[type eq "mobile"].value', value: '+3' })).phoneNumbers[0].value).toBe('+3')
    expect((await change({ op: 'replace', path: `${enterprise}:department`, value: 'IT' }))[enterprise]).toEqual({ department: 'IT' })
    expect((await change({ op: 'remove', path: `${enterprise}:department` })).schemas).toEqual([userSchema])
    expect((await change({ op: 'replace', value: { [enterprise]: { costCenter: 4711 } } }))[enterprise]).toEqual({ costCenter: '4711' })
    expect((await change({ op: 'replace', value: { 'name.givenName': 'Anna', [`${enterprise}:division`]: 'X' } })).name.givenName).toBe(
      'Anna',
    )
    expect((await send('GET', `/Users/${id}?attributes=userName,${enterprise}:division`)).body).toEqual({
      schemas: [userSchema, enterprise],
      id,
      userName: 'ann@acme.example',
      [enterprise]: { division: 'X' },
    })
  })

  it.each([
    [{ op: 'replace', path: '__proto__.polluted', value: 'yes' }, 'invalidPath'],
    [{ op: 'replace', path: 'name.__proto__.polluted', value: 'yes' }, 'invalidPath'],
    [{ op: 'add', path: 'constructor.prototype.polluted', value: 'yes' }, 'invalidPath'],
    [{ op: 'add', path: 'emails[__proto__ eq "x"].value', value: 'yes' }, 'invalidFilter'],
    [{ op: 'move', path: 'title', value: 'x' }, 'invalidSyntax'],
    [{ op: 'remove' }, 'noTarget'],
    [{ op: 'remove', path: 'userName' }, 'mutability'],
    [{ op: 'replace', path: 'active', value: 'perhaps' }, 'invalidValue'],
    [{ op: 'replace', path: 'title', value: { a: 1 } }, 'invalidValue'],
    [{ op: 'replace', path: 'title[type eq "x"]', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[type eq "x"', value: 'x' }, 'invalidPath'],
    [{ op: 'replace', path: 'emails[not (type eq "work")].value', value: 'x' }, 'noTarget'],
  ])('refuses %j, and changes nothing', async (operation, scimType) => {
    const { createUser, patch, send } = await createScimWorld()
    const { id } = (await createUser('ann', { title: 'Engineer' })).body
    const before = (await send('GET', `/Users/${id}`)).body
    const answer = await patch(`/Users/${id}`, { op: 'replace', path: 'nickName', value: 'first' }, operation)
    expect([answer.status, answer.body.scimType]).toEqual([400, scimType])
    expect((await send('GET', `/Users/${id}`)).body).toEqual(before)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('ignores names that no schema has, also those of prototypes', async () => {
    const { createUser, send } = await createScimWorld()
    const { id } = (await createUser('ann')).body
    const body = `{"Operations":[{"op":"replace","value":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"shoeSize":7,"id":"${id}","title":"Chief"}}]}`
    const answer = await send('PATCH', `/Users/${id}`, body)
    expect([answer.status, answer.body.title, answer.body.shoeSize]).toEqual([200, 'Chief', undefined])
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

describe('a request', () => {
  it.each([
    ['[]', 'invalidSyntax'],
    ['{', 'invalidSyntax'],
    ['null', 'invalidSyntax'],
    ['{"userName":"a@acme.example","USERNAME":"b@acme.example"}', 'invalidSyntax'],
    ['{"userName":{"a":1}}', 'invalidValue'],
    ['{"displayName":"no name"}', 'invalidValue'],
    ['{"userName":"no-address"}', 'invalidValue'],
    [
      '{"userName":"x@acme.example","emails":[{"value":"a@acme.example","primary":true},{"value":"b@acme.example","primary":true}]}',
      'invalidValue',
    ],
    ['{"schemas":["urn:wrong"],"userName":"x@acme.example"}', 'invalidValue'],
    [`{"userName":"x@acme.example","name":${'['.repeat(20_000)}${']'.repeat(20_000)}}`, 'invalidSyntax'],
    [`{"userName":"x@acme.example","title":"${'x'.repeat(10_001)}"}`, 'invalidValue'],
  ])('that is wrong is a 400 that names the attribute, and stores nothing: %s', async (body, scimType) => {
    const { send, store } = await createScimWorld()
    const answer = await send('POST', '/Users', body)
    expect([answer.status, answer.body.scimType, answer.body.schemas]).toEqual([
      400,
      scimType,
      ['urn:ietf:params:scim:api:messages:2.0:Error'],
    ])
    expect((await send('GET', '/Users')).body.totalResults).toBe(0)
    expect(await store.getUserByEmail('x@acme.example')).toBeNull()
  })

  it('that is too large is a 413', async () => {
    const { send } = await createScimWorld({ options: { maxBody: 2000 } })
    expect((await send('POST', '/Users', { userName: 'x@acme.example', title: 'x'.repeat(3000) })).status).toBe(413)
    expect((await send('GET', '/Me')).status).toBe(501)
  })

  it('under a version changes that version alone', async () => {
    const { send, createUser } = await createScimWorld()
    const { id } = (await createUser('ann')).body
    const user = { userName: 'ann@acme.example', title: 'One' }
    const first = await send('PUT', `/Users/${id}`, user, { 'if-match': 'W/"1"' })
    expect([first.status, first.headers.get('etag')]).toEqual([200, 'W/"2"'])
    expect((await send('PUT', `/Users/${id}`, user, { 'if-match': 'W/"1"' })).status).toBe(412)
    expect((await send('DELETE', `/Users/${id}`, undefined, { 'if-match': 'W/"1"' })).status).toBe(412)
    expect((await send('GET', `/Users/${id}`, undefined, { 'if-none-match': 'W/"2"' })).status).toBe(304)
    const both = await Promise.all(
      [1, 2, 3, 4].map((at) => send('PUT', `/Users/${id}`, { ...user, title: `${at}` }, { 'if-match': 'W/"2"' })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412])
  })
})

describe('an answer', () => {
  it('has the type of SCIM, or general JSON for a client that takes that alone', async () => {
    const { send, createUser } = await createScimWorld()
    const { id } = (await createUser('ann')).body
    for (const [accept, type] of [
      ['application/scim+json', 'application/scim+json'],
      ['application/json', 'application/json'],
      ['application/json;charset=utf-8', 'application/json'],
      ['application/json, application/scim+json', 'application/scim+json'],
      ['*/*', 'application/scim+json'],
      ['text/html', 'application/scim+json'],
    ])
      for (const path of [`/Users/${id}`, '/Users', '/Groups', '/Users/none', '/Schemas'])
        expect([path, accept, (await send('GET', path, undefined, { accept: accept! })).headers.get('content-type')]).toEqual([
          path,
          accept,
          type,
        ])
  })
})

describe('pages', () => {
  it('go by index, by cursor, and sorted', async () => {
    const { send, createUser, runtime } = await createScimWorld()
    for (const name of ['ed', 'ann', 'cy', 'bob', 'dan']) {
      await createUser(name, { title: name === 'cy' ? undefined : `T-${name}` })
      runtime.advance(1000)
    }
    const namesOf = (page: { Resources: { userName: string }[] }) => page.Resources.map(({ userName }) => userName.split('@')[0] ?? '')
    const second = await list(send, 'startIndex=3&count=2')
    expect([namesOf(second), second.totalResults, second.startIndex, second.itemsPerPage]).toEqual([['cy', 'bob'], 5, 3, 2])
    expect((await list(send, 'count=0')).totalResults).toBe(5)
    expect(namesOf(await list(send, 'sortBy=userName&count=3'))).toEqual(['ann', 'bob', 'cy'])
    expect(namesOf(await list(send, 'sortBy=title&sortOrder=descending'))).toEqual(['cy', 'ed', 'dan', 'bob', 'ann'])
    const seen: string[] = []
    let cursor: string | undefined = ''
    while (cursor !== undefined) {
      const page: { nextCursor?: string; Resources: { userName: string }[] } = await list(send, `count=2&cursor=${cursor}`)
      seen.push(...namesOf(page))
      cursor = page.nextCursor
    }
    expect(seen).toEqual(['ed', 'ann', 'cy', 'bob', 'dan'])
    const wrong = await send('GET', '/Users?cursor=garbage')
    expect([wrong.status, wrong.body.scimType]).toEqual([400, 'invalidCursor'])
    const search = await send('POST', '/Users/.search', { filter: 'title sw "T-"', count: 1, attributes: ['userName'] })
    expect([search.body.totalResults, Object.keys(search.body.Resources[0])]).toEqual([4, ['schemas', 'id', 'userName']])
  })
})

describe('meta.lastModified', () => {
  it('finds what changed since, also with a cursor, and in the order of the changes', async () => {
    const { send, createUser, patch, runtime } = await createScimWorld()
    const ids: string[] = []
    for (const name of ['ann', 'bob', 'cy']) {
      ids.push((await createUser(name)).body.id)
      runtime!.advance(60_000)
    }
    const since = new Date(runtime!.now()).toISOString()
    runtime!.advance(60_000)
    await patch(`/Users/${ids[2]}`, { op: 'replace', path: 'title', value: 'x' })
    runtime!.advance(60_000)
    await patch(`/Users/${ids[0]}`, { op: 'replace', path: 'title', value: 'y' })
    const namesOf = ({ Resources }: { Resources: { userName: string }[] }) => Resources.map(({ userName }) => userName.split('@')[0])
    const filter = encodeURIComponent(`meta.lastModified gt "${since}"`)
    expect(namesOf(await list(send, `filter=${filter}`))).toEqual(['cy', 'ann'])
    const first = await list(send, `filter=${filter}&cursor=&count=1`)
    const second = await list(send, `filter=${filter}&count=1&cursor=${encodeURIComponent(first.nextCursor)}`)
    expect([namesOf(first), namesOf(second)]).toEqual([['cy'], ['ann']])
    const both = encodeURIComponent(`meta.lastModified ge "${since}" and title eq "x"`)
    expect(namesOf(await list(send, `filter=${both}`))).toEqual(['cy'])
    expect(namesOf(await list(send, `filter=${encodeURIComponent('meta.created lt "2000-01-01T00:00:00Z"')}`))).toEqual([])
  })
})

describe('descriptions', () => {
  it('tell features, types and schemas', async () => {
    const { send } = await createScimWorld({ options: { bulk: 10 } })
    expect((await send('GET', '/ServiceProviderConfig')).body).toMatchObject({
      patch: { supported: true },
      bulk: { supported: true, maxOperations: 10 },
    })
    expect((await send('GET', '/ResourceTypes')).body.Resources.map(({ id }: { id: string }) => id)).toEqual(['User', 'Group'])
    const schemas = (await send('GET', '/Schemas')).body.Resources
    expect(schemas.map(({ id }: { id: string }) => id)).toEqual([userSchema, enterprise, groupSchema])
    expect((await send('GET', `/Schemas/${userSchema}`)).body.id).toBe(userSchema)
    expect((await send('GET', '/Schemas/urn:none')).status).toBe(404)
  })
})

describe('paths', () => {
  it.each([
    ['GET', '', 404, null],
    ['GET', '/Foo', 404, null],
    ['POST', '/constructor', 404, null],
    ['DELETE', '/Foo/bar', 404, null],
    ['PUT', '/Users', 405, 'GET, POST'],
    ['POST', '/Users/x', 405, 'GET, PUT, PATCH, DELETE'],
    ['PATCH', '/Groups', 405, 'GET, POST'],
    ['POST', '/Schemas', 405, 'GET'],
    ['GET', '/.search', 405, 'POST'],
    ['POST', '/Bulk', 501, null],
  ])('that are not served get an error of SCIM: %s %s', async (method, path, status, allow) => {
    const { send, clientOf } = await createScimWorld()
    const answer = await send(method, path, method === 'GET' || method === 'DELETE' ? undefined : {})
    expect([answer.status, answer.body.status, answer.headers.get('allow')]).toEqual([status, String(status), allow])
    expect(answer.body.schemas).toEqual(['urn:ietf:params:scim:api:messages:2.0:Error'])
    expect((await clientOf('scim_none')(method, path, method === 'GET' ? undefined : {})).status).toBe(401)
  })

  it('/.search at the base finds users and groups, in one list of pages', async () => {
    const { send, createUser, other, runtime } = await createScimWorld()
    for (const name of ['ann', 'bob', 'cy']) {
      await createUser(name)
      runtime!.advance(1000)
    }
    for (const displayName of ['Staff', 'Sales']) {
      await send('POST', '/Groups', { schemas: [groupSchema], displayName })
      runtime!.advance(1000)
    }
    const search = async (body: object) => (await send('POST', '/.search', body)).body
    const namesOf = (body: { Resources: { userName?: string; displayName?: string }[] }) =>
      body.Resources.map((one) => one.userName?.split('@')[0] ?? one.displayName)
    const all = await search({})
    expect([all.totalResults, namesOf(all)]).toEqual([5, ['ann', 'bob', 'cy', 'Staff', 'Sales']])
    const pages = [await search({ startIndex: 2, count: 3 }), await search({ startIndex: 5, count: 3 })]
    expect(pages.map((page) => [page.totalResults, page.itemsPerPage, namesOf(page)])).toEqual([
      [5, 3, ['bob', 'cy', 'Staff']],
      [5, 1, ['Sales']],
    ])
    expect(namesOf(await search({ filter: 'userName sw "b" or meta.resourceType eq "User"' }))).toEqual(['ann', 'bob', 'cy'])
    expect(namesOf(await search({ filter: 'displayName eq "staff"' }))).toEqual(['Staff'])
    expect(namesOf(await search({ filter: 'meta.resourceType eq "Group" and id pr' }))).toEqual(['Staff', 'Sales'])
    expect((await search({ filter: 'nothing pr' })).scimType).toBe('invalidFilter')
    expect([(await search({ sortBy: 'id' })).scimType, (await search({ cursor: '' })).scimType]).toEqual(['invalidPath', 'invalidCursor'])
    expect((await other('POST', '/.search', {})).body.totalResults).toBe(0)
  })

  it('descriptions take no filter, and users are not searched by their groups', async () => {
    const { send } = await createScimWorld()
    for (const path of ['/Schemas', '/ResourceTypes']) expect((await send('GET', `${path}?filter=id%20pr`)).status).toBe(403)
    const answer = await send('GET', `/Users?filter=${encodeURIComponent('groups.value eq "x"')}`)
    expect([answer.status, answer.body.scimType]).toEqual([400, 'invalidFilter'])
  })

  it('a PATCH with the path of what the server writes is refused', async () => {
    const { createUser, patch } = await createScimWorld()
    const { body: ann } = await createUser('ann')
    for (const path of ['id', 'meta', 'meta.created', 'groups'])
      for (const op of ['add', 'replace', 'remove'])
        expect([path, op, (await patch(`/Users/${ann.id}`, { op, path, value: 'x' })).body.scimType]).toEqual([path, op, 'mutability'])
    expect((await patch(`/Users/${ann.id}`, { op: 'replace', value: { id: ann.id, nickName: 'A' } })).status).toBe(200)
  })
})

describe('bulk', () => {
  it('carries out each operation on its own, and knows results of earlier ones', async () => {
    const { send } = await createScimWorld({ options: { bulk: 4 } })
    const post = (path: string, bulkId: string, data: object) => ({ method: 'POST', path, bulkId, data })
    const { status, body } = await send('POST', '/Bulk', {
      Operations: [
        post('/Users', 'u1', { userName: 'ann@acme.example' }),
        post('/Users', 'u2', { userName: 'x@globex.example' }),
        post('/Groups', 'g1', { displayName: 'Staff', members: [{ value: 'bulkId:u1' }] }),
        { method: 'DELETE', path: '/Users/none' },
      ],
    })
    expect([status, body.Operations.map((one: { status: string }) => one.status)]).toEqual([200, ['201', '400', '201', '404']])
    expect((await send('GET', '/Groups')).body.Resources[0].members).toHaveLength(1)
    expect((await send('POST', '/Bulk', { Operations: Array.from({ length: 5 }, () => ({})) })).status).toBe(413)
  })

  it('refuses circles, ten thousand operations and prototype keys, and stores nothing of them', async () => {
    const { send } = await createScimWorld({ options: { bulk: 1000 } })
    const group = (bulkId: string, other: string) => ({
      method: 'POST',
      path: '/Groups',
      bulkId,
      data: { displayName: bulkId, members: [{ value: `bulkId:${other}` }] },
    })
    const circle = await send('POST', '/Bulk', { Operations: [group('a', 'b'), group('b', 'a')] })
    expect(circle.body.Operations.map(({ status }: { status: string }) => status)).toEqual(['409', '409'])
    const many = Array.from({ length: 10_000 }, () => ({ method: 'DELETE', path: '/Users/x' }))
    expect((await send('POST', '/Bulk', { Operations: many })).status).toBe(413)
    const hostile =
      '{"Operations":[{"method":"POST","path":"/Users","bulkId":"__proto__","data":{"userName":"bulkId:constructor","__proto__":{"polluted":1}}}]}'
    expect((await send('POST', '/Bulk', hostile)).body.Operations[0].status).toBe('409')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
    expect([(await send('GET', '/Users')).body.totalResults, (await send('GET', '/Groups')).body.totalResults]).toEqual([0, 0])
  })
})

describe('schemas', () => {
  it('have the attributes of RFC 7643 as scimmy knows them', async () => {
    const { default: Scimmy } = await import('scimmy')
    const { send } = await createScimWorld()
    type Described = { id: string; attributes: { name: string; type: string; subAttributes?: { name: string }[] }[] }
    const own = new Map((await send('GET', '/Schemas')).body.Resources.map((one: Described) => [one.id, one]))
    // What RFC 7643 calls binary is text in JSON, and photos have a reference as value.
    const { User, Group, EnterpriseUser } = Scimmy.Schemas
    for (const { definition } of [User, Group, EnterpriseUser]) {
      const wanted = definition.describe() as unknown as Described
      const found = (own.get(wanted.id) as Described).attributes
      for (const { name, type, subAttributes = [] } of wanted.attributes) {
        const attribute = found.find((one) => one.name === name)
        expect([wanted.id, name, attribute?.type]).toEqual([wanted.id, name, type])
        const subs = new Set(attribute?.subAttributes?.map((one) => one.name))
        expect([name, subAttributes.filter((one) => !subs.has(one.name)).map((one) => one.name)]).toEqual([name, []])
      }
    }
  })
})
