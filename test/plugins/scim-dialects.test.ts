/** The product that a directory is: detected, chosen, and what is unusual for it. */
import { describe, expect, it } from 'vitest'
import { createScimWorld, enterprise, type Send } from './_scim.ts'
import { dialogues } from './_scim-dialogues.ts'

const patchOf = (...Operations: object[]): object => ({ schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations })
const products = { 'Entra ID': 'entra', Okta: 'okta', OneLogin: 'onelogin', JumpCloud: 'jumpcloud', Google: 'google' } as const

const unusual = (log: Awaited<ReturnType<typeof createScimWorld>>['log']) =>
  log.debugs.filter((entry) => JSON.stringify(entry).includes('scim-unusual'))

async function play(send: Send, name: string): Promise<void> {
  const { userAgent, steps } = dialogues[name]!
  const ids: Record<string, string> = {}
  const fill = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(/\{(\w)\}/g, (_, id) => ids[id] ?? id)) as T
  for (const { as, send: request, status } of steps) {
    const [method, path, body] = fill(request)
    const answer = await send(method, path, body, userAgent === undefined ? {} : { 'user-agent': userAgent })
    expect([method, path, answer.status]).toEqual([method, path, status])
    if (as) ids[as] = answer.body.id
  }
}

describe.each(Object.entries(products))('%s', (name, dialect) => {
  it('is detected by its requests, and nothing of them is unusual', async () => {
    const { auth, send, acme, log } = await createScimWorld()
    await play(send, name)
    expect((await auth.scim.directories.list({ organizationId: acme }))[0]).toMatchObject({ dialect: null, detected: dialect })
    expect(unusual(log)).toEqual([])
  })

  it('is served in the same way where it was chosen', async () => {
    const { auth, send, directoryId } = await createScimWorld()
    expect(await auth.scim.directories.update({ id: directoryId, dialect })).toMatchObject({ dialect })
    await play(send, name)
  })
})

it.each([
  ['Ping Identity', 'ping'],
  ['Rippling', 'rippling'],
] as const)(
  '%s, which the User-Agent of a library does not name, is served where it was chosen, and nothing of it is unusual',
  async (name, dialect) => {
    const { auth, send, acme, directoryId, log } = await createScimWorld()
    await auth.scim.directories.update({ id: directoryId, dialect })
    await play(send, name)
    expect((await auth.scim.directories.list({ organizationId: acme }))[0]).toMatchObject({ dialect, detected: null })
    expect(unusual(log)).toEqual([])
  },
)

describe('the dialect `standard`', () => {
  const deviations: [string, string, object, string][] = [
    ['an operation in upper case', 'PATCH', patchOf({ op: 'Replace', path: 'active', value: true }), 'invalidSyntax'],
    ['a boolean as a text', 'PATCH', patchOf({ op: 'replace', path: 'active', value: 'True' }), 'invalidValue'],
    ['a boolean as a text in a value', 'PATCH', patchOf({ op: 'replace', value: { active: 'False' } }), 'invalidValue'],
    ['a schema with a dot', 'PATCH', patchOf({ op: 'replace', path: `${enterprise}.department`, value: 'Sales' }), 'invalidPath'],
    ['a name with a dot', 'PATCH', patchOf({ op: 'replace', value: { 'name.givenName': 'Ada' } }), 'invalidPath'],
    ['a manager as a text', 'PATCH', patchOf({ op: 'replace', path: `${enterprise}:manager`, value: 'abc' }), 'invalidValue'],
    ['an id that is repeated', 'PATCH', patchOf({ op: 'replace', value: { id: 'x', active: true } }), 'invalidValue'],
  ]
  it.each(deviations)('rejects %s with 400, and another directory reads it', async (_title, method, body, scimType) => {
    const { auth, send, directoryId, createUser } = await createScimWorld()
    const { id } = (await createUser('ada')).body
    expect((await send(method, `/Users/${id}`, body)).status).toBe(200)
    await auth.scim.directories.update({ id: directoryId, dialect: 'standard' })
    const answer = await send(method, `/Users/${id}`, body)
    expect([answer.status, answer.body.scimType]).toEqual([400, scimType])
    await auth.scim.directories.update({ id: directoryId, dialect: null })
    expect((await send(method, `/Users/${id}`, body)).status).toBe(200)
  })

  it('accepts what RFC 7644 has', async () => {
    const { auth, send, directoryId, createUser } = await createScimWorld()
    await auth.scim.directories.update({ id: directoryId, dialect: 'standard' })
    const { id } = (await createUser('ada')).body
    const operations = [
      { op: 'replace', path: 'active', value: true },
      { op: 'add', value: { nickName: 'A' } },
      { op: 'replace', path: `${enterprise}:manager`, value: { value: 'abc' } },
      { op: 'remove', path: 'nickName' },
    ]
    expect((await send('PATCH', `/Users/${id}`, patchOf(...operations))).status).toBe(200)
  })
})

it('what is unusual for the product is logged once for each directory', async () => {
  const { auth, send, directoryId, createUser, log } = await createScimWorld()
  await auth.scim.directories.update({ id: directoryId, dialect: 'okta' })
  const { id } = (await createUser('ada')).body
  for (let count = 0; count < 3; count++)
    await send('PATCH', `/Users/${id}`, patchOf({ op: 'Replace', path: 'active', value: 'True' }), { 'user-agent': 'Okta' })
  expect(unusual(log).filter((entry) => /upper case|as a text/.test(JSON.stringify(entry)))).toHaveLength(2)
})

it('no other value is a dialect', async () => {
  const { auth, directoryId, acme } = await createScimWorld()
  for (const dialect of ['', 'Okta', 'toString', '__proto__', 7 as never, {} as never] as never[]) {
    await expect(auth.scim.directories.update({ id: directoryId, dialect })).rejects.toThrow('`dialect`')
    await expect(auth.scim.directories.create({ organizationId: acme, name: 'B', dialect })).rejects.toThrow('`dialect`')
  }
})
