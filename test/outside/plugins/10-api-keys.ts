/** API keys: made and revoked on the server, known to `auth.session(request)` as `Authorization: Bearer ok_…`. */
import { equal, type Plugin, randomHex, type RecordTable, type Row, sha256, toHex } from 'authkernel/kernel'

interface OwnKey {
  userId: string
  /** SHA-256 of the secret part, in hex. It has 256 random bits, so a plain hash does. */
  hash: string
  name: string
  scopes: readonly string[]
  createdAt: Date
  expiresAt: Date | null
}
declare module 'authkernel/kernel' {
  interface Records {
    ownKey: OwnKey
  }
}
declare module 'authkernel' {
  interface Session {
    /** Present when a key and no person is at work. */
    ownKey?: { id: string; scopes: readonly string[] }
  }
}
export type OwnKeyInfo = Omit<Row<OwnKey>, 'hash'>
export interface OwnKeys {
  /** `secret` is shown once and kept nowhere. */
  create(options: {
    userId: string
    name: string
    scopes?: readonly string[]
    seconds?: number
  }): Promise<{ secret: string; key: OwnKeyInfo }>
  verify(secret: string): Promise<OwnKeyInfo | null>
  list(userId: string): Promise<OwnKeyInfo[]>
  revoke(id: string): Promise<boolean>
}
const shape = /^ok_([0-9a-f]{16})_([0-9a-f]{64})$/
const info = (row: Row<OwnKey>): OwnKeyInfo => {
  const { hash: _hash, ...rest } = row
  return rest
}

export function ownKeysPlugin({ tenant = null }: { tenant?: string | null } = {}): Plugin<{ ownKeys: OwnKeys }> {
  return {
    name: 'own-keys',
    requires: ['records', 'store:getUser'],
    setup(kernel) {
      kernel.records('ownKey', {
        id: 'given',
        fields: {
          userId: { type: 'string' },
          hash: { type: 'string', max: 64 },
          name: { type: 'string' },
          scopes: { type: 'json' },
          createdAt: { type: 'date' },
          expiresAt: { type: 'date', optional: true },
        },
        index: [['userId', 'createdAt']],
        owner: 'user',
        expires: 'expiresAt',
      })
      const verify = async (table: RecordTable<OwnKey>, secret: string): Promise<OwnKeyInfo | null> => {
        const [, id, rest] = shape.exec(secret) ?? []
        const row = id === undefined ? null : await table.get(id)
        return row && rest !== undefined && equal(row.hash, toHex(await sha256(rest))) ? info(row) : null
      }

      kernel.hook('authenticate', async ({ ctx }) => {
        const secret = /^Bearer (ok_.*)$/i.exec(ctx.request.headers.get('authorization') ?? '')?.[1]
        if (secret === undefined) return undefined
        const key = await verify(ctx.records('ownKey'), secret)
        const owner = key && (await ctx.store?.getUser(key.userId))
        // A wrong key is signed out, whatever the cookie says.
        if (!key || !owner) return null
        const { id, name = null, email = null, image = null } = owner
        const expires = (key.expiresAt ?? new Date(ctx.now.getTime() + 300_000)).toISOString()
        return { user: { id, name, email, image }, expires, ownKey: { id: key.id, scopes: key.scopes } }
      })

      const table = async (): Promise<RecordTable<OwnKey>> => (await kernel.contextOf({ job: 'own-keys', tenant })).records('ownKey')
      return {
        ownKeys: {
          async create({ userId, name, scopes = [], seconds }) {
            const [id, rest] = [randomHex(kernel.runtime, 8), randomHex(kernel.runtime, 32)]
            const createdAt = new Date(kernel.runtime.now())
            const expiresAt = seconds === undefined ? null : new Date(kernel.runtime.now() + seconds * 1000)
            const row = { id, userId, name, scopes, hash: toHex(await sha256(rest)), createdAt, expiresAt }
            return { secret: `ok_${id}_${rest}`, key: info(await (await table()).create(row)) }
          },
          verify: async (secret) => verify(await table(), secret),
          list: async (userId) => (await (await table()).find({ where: { userId } })).rows.map(info),
          revoke: async (id) => (await table()).delete(id),
        },
      }
    },
  }
}
