/** Files of exports: each format, cut into small pieces, and what is said of a file that is none. */
import { expect, it } from 'vitest'
import { createAuth } from 'authkernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { importPlugin, type ServiceImport } from 'authkernel/plugins/import'
import { memoryAdapter } from 'authkernel/plugins/memory'
import { baseConfig } from '../_setup.ts'

async function* pieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7)
}

async function read(from: ServiceImport['from'], ...files: string[]) {
  const adapter = memoryAdapter()
  const auth = createAuth(baseConfig()).use(adapterPlugin(adapter)).use(importPlugin())
  await auth.ready()
  const report = await auth.import.run({ from, files: () => files.map(pieces), apply: true, accept: ['all'] })
  return { report, users: (await adapter.listUsers({ limit: 100 })).map(({ id, name }) => [id, name]) }
}

const one = { localId: 'a', displayName: 'Zoë "Z", \n 1' }
const two = { localId: 'b', displayName: 'B', providerUserInfo: [{ users: [{ localId: 'inner' }] }] }
const both = [
  ['a', one.displayName],
  ['b', 'B'],
]

it.each([
  ['a list', JSON.stringify([one, two])],
  ['a list over several lines', `\uFEFF${JSON.stringify([one, two], null, 2)}`],
  ['a document', JSON.stringify({ kind: 'x', users: [one, two] })],
  [
    'a document over several lines, with the name elsewhere too',
    JSON.stringify({ other: { users: [{ localId: 'no' }] }, users: [one, two] }, null, 2),
  ],
  ['lines', `${JSON.stringify(one)}\n\n${JSON.stringify(two)}\n`],
  ['lines that are pages', `${JSON.stringify({ users: [one] })}\n${JSON.stringify({ users: [two] })}`],
  ['CSV', `localId,displayName\r\na,"${one.displayName.replaceAll('"', '""')}"\r\nb,B\r\n`],
])('%s', async (_, text) => expect((await read('firebase', text)).users).toEqual(both))

it('several files are read in order, and an empty one is none', async () => {
  expect((await read('firebase', JSON.stringify([one]), '', JSON.stringify(two))).users).toEqual(both)
})

it.each([
  ['a list that ends early', '[{"localId":"a"},{"loc', 'no JSON that can be read'],
  ['a line that is no object', '{"localId":"a"}\n"secret hash"\n', 'line 2 of the file is no JSON object'],
  ['CSV with more columns than names', 'localId,displayName\na,b,c\n', 'see line 2'],
])('%s is rejected, without its text', async (_, text, message) => {
  const refused = read('firebase', text)
  await expect(refused).rejects.toThrow(message)
  await expect(refused).rejects.not.toThrow('secret')
})

it('says what is missing', async () => {
  const auth = createAuth(baseConfig()).use(adapterPlugin(memoryAdapter())).use(importPlugin())
  await expect(auth.import.run({ from: 'nothing' as never })).rejects.toThrow('one of clerk, auth0')
  await expect(auth.import.run({ from: 'clerk' })).rejects.toThrow('give the export of clerk as a file.')
  await expect(auth.import.run({ from: 'lucia' })).rejects.toThrow('or the database as importPlugin({ db })')
})

it('options of the wrong shape are refused by name', () => {
  for (const [options, word] of [
    [{ db: {} }, '`db`'],
    [{ map: 1 }, '`map`'],
    [{ providers: { a: 1 } }, '`providers`'],
    [{ legacyPassword: 'x' }, '`legacyPassword`'],
    [{ legacyTimeout: 5 }, '`legacyTimeout`'],
    [{ typo: 1 }, 'typo'],
  ] as const)
    expect(() => importPlugin(options as never)).toThrow(word)
})

it('`map` changes users and leaves some out, and `providers` names them', async () => {
  const adapter = memoryAdapter()
  const auth = createAuth(baseConfig())
    .use(adapterPlugin(adapter))
    .use(
      importPlugin({
        map: (user, row) => (row['skip'] ? null : { ...user, name: String(row['nick']) }),
        providers: { 'my-oidc': 'acme' },
      }),
    )
  const rows = [
    { user_id: 'auth0|1', email: 'one@example.com', nick: 'One', identities: [{ provider: 'my-oidc', user_id: '7' }] },
    { user_id: 'auth0|2', email: 'two@example.com', skip: true },
  ]
  await auth.import.run({ from: 'auth0', files: () => [pieces(JSON.stringify(rows))], apply: true, accept: ['all'] })
  expect((await adapter.listUsers({ limit: 9 })).map(({ name }) => name)).toEqual(['One'])
  expect((await adapter.getUserByAccount({ provider: 'acme', providerAccountId: '7' }))?.name).toBe('One')
})
