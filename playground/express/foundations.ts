/** What every host has once: store, sessions, pages, mails. A switch puts another one in the place of the playground's own. */
import { createClient } from '@libsql/client'
import type { Plugin } from 'authkernel/kernel'
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { encryptTokens } from 'authkernel/plugins/encrypt-tokens'
import { hashSessionTokens } from 'authkernel/plugins/hash-session-tokens'
import { mailPlugin } from 'authkernel/plugins/mail'
import { memoryAdapter, memoryRecords } from 'authkernel/plugins/memory'
import { pagesPlugin } from 'authkernel/plugins/pages'
import { recordsPlugin } from 'authkernel/plugins/records'
import { databaseSessionPlugin } from 'authkernel/plugins/session-database'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { libsqlDialect, sqlAdapter } from 'authkernel/plugins/sql'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { Kysely } from 'kysely'
import { createStorage } from 'unstorage'
import type { Around, Switch } from './catalogue.ts'

export function foundations({ adapter, secret }: Around): Readonly<Record<string, readonly Switch[]>> {
  const otherwise = (): Plugin => adapterPlugin(adapter)
  return {
    'Stores: one at a time, and each signs you out': [
      { id: 'memory', text: 'An empty store in memory.', make: () => adapterPlugin(memoryAdapter()), otherwise },
      {
        id: 'unstorage',
        text: 'An empty store of unstorage, which has drivers for Redis, files and many more.',
        make: () => adapterPlugin(unstorageAdapter(createStorage())),
        otherwise,
      },
      {
        id: 'sql',
        text: 'An empty SQLite database in memory.',
        make: () => {
          const dialect = libsqlDialect({ client: createClient({ url: ':memory:' }) })
          return adapterPlugin(sqlAdapter(new Kysely({ dialect }), { migrate: true }))
        },
        otherwise,
      },
      {
        id: 'hash-session-tokens',
        text: 'The store of the playground, with session tokens hashed: an attacker who reads it cannot sign in with them.',
        make: () => adapterPlugin(hashSessionTokens(adapter)),
        otherwise,
      },
      {
        id: 'encrypt-tokens',
        text: 'The store of the playground, with tokens of providers encrypted. It does not sign you out.',
        make: () => adapterPlugin(encryptTokens(adapter, { secret })),
        otherwise,
      },
      { id: 'records', text: 'Tables of plugins in a store of their own, in memory.', make: () => recordsPlugin(memoryRecords()) },
    ],
    'Sessions, pages and mails': [
      {
        id: 'session-database',
        text: 'Sessions in the store end after an hour. It counts where the playground was started with them.',
        make: () => databaseSessionPlugin({ maxAge: 3600 }),
        otherwise: () => databaseSessionPlugin(),
      },
      {
        id: 'session-jwt',
        text: 'Sessions in a cookie end after an hour. It counts where the playground was started with them.',
        make: () => jwtSessionPlugin({ maxAge: 3600 }),
        otherwise: () => jwtSessionPlugin(),
      },
      {
        id: 'pages',
        text: 'The built-in pages in another colour.',
        make: () => pagesPlugin({ theme: { brandColor: '#0b57d0' } }),
        otherwise: () => pagesPlugin(),
      },
      {
        id: 'mail',
        text: 'Mails of plugins from another sender.',
        make: () => mailPlugin({ from: 'Playground mails <mails@example.com>' }),
        otherwise: () => mailPlugin(),
      },
    ],
  }
}
