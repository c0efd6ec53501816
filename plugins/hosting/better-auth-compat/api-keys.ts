/** What moves of `@better-auth/api-key`: its keys, which go on with the same texts. */
import { fromBase64, sha256, toBase64Url, toHex } from 'authkernel/kernel'
import type { KeyTaken } from 'authkernel/plugins/api-keys'
import type { SourceRow } from '../import/ledger.ts'
import { isTrue, type Source, type SourceFields, toDate, toText } from './source.ts'
import type { Move, MovedKind } from './users.ts'

/** Keys that are switched off or over stay behind: nothing here would take them. */
export function apiKeyKind(): MovedKind<KeyTaken> {
  return {
    kind: 'api-keys',
    model: 'apikey',
    service: 'keyImport',
    record: 'apiKey',
    absent: (count) => ({ level: 'loss', message: `${count} API keys stay behind: use apiKeysPlugin().` }),
    async count(source, now) {
      let count = 0
      for await (const rows of source.pages('apikey')) count += rows.filter((row) => isLive(row, now)).length
      return count
    },
    async *pages({ source, ctx }) {
      for await (const rows of source.pages('apikey'))
        yield await toRows(
          source,
          rows.filter((row) => isLive(row, ctx.now)),
        )
    },
    async isThere({ source, ctx }, keys) {
      // Their hashes are in two forms there, so that all keys are looked at: there are few beside users.
      const there = new Set<string>()
      for await (const rows of source.pages('apikey')) for (const row of rows) if (isLive(row, ctx.now)) there.add(await hashOf(row))
      return new Set(keys.filter((key) => there.has(key)))
    },
  }
}

/** Whether better-auth has a key that counts, by the SHA-256 of its text in hex. */
export async function hasLiveKey({ source, ctx }: Pick<Move, 'source' | 'ctx'>, hash: string): Promise<boolean> {
  const digest = toBase64Url(Uint8Array.from(hash.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)))
  const [row] = await source.find('apikey', 'key', [digest])
  if (row && (await hashOf(row)) === hash) return isLive(row, ctx.now)
  // With `disableKeyHashing` the table has the texts.
  return (await apiKeyKind().isThere({ source, ctx } as Move, [hash])).has(hash)
}

async function toRows(source: Source, rows: readonly SourceFields[]): Promise<SourceRow<KeyTaken>[]> {
  const users = new Map((await source.find('user', 'id', rows.map(ownerOf))).map((user) => [String(user['id']), user]))
  return Promise.all(
    rows.map(async (row): Promise<SourceRow<KeyTaken>> => {
      const userId = ownerOf(row)
      const hash = await hashOf(row)
      const withheld = reasonAgainst(row, users.get(userId))
      const value = {
        userId,
        hash,
        name: toText(row['name']) ?? toText(row['start']) ?? 'API key',
        scopes: scopesOf(toText(row['permissions'])),
        created: toDate(row['createdAt']) ?? new Date(0),
        expires: toDate(row['expiresAt']),
        limit: limitOf(row),
      }
      return { key: hash, userId, value, ...(withheld !== undefined && { withheld }) }
    }),
  )
}

function isLive(row: SourceFields, now: Date): boolean {
  const expires = toDate(row['expiresAt'])
  return isTrue(row['enabled'] ?? true) && (expires === null || expires > now)
}

function reasonAgainst(row: SourceFields, user: SourceFields | undefined): string | undefined {
  if (!user) return 'the key belongs to an organization. Make a key of a service in its place'
  // An attacker who registered with the address of another user would keep the key.
  if (!isTrue(user['emailVerified'])) return 'the address of the owner was never verified. The owner makes a new key'
  return toText(row['remaining']) === null ? undefined : 'the key has a number of uses that is left, and would have no end here'
}

/** `userId` before version 1.5. */
function ownerOf(row: SourceFields): string {
  return String(row['referenceId'] ?? row['userId'] ?? '')
}

/** SHA-256 in base64url, or with `disableKeyHashing` the text itself. */
async function hashOf(row: SourceFields): Promise<string> {
  const key = String(row['key'])
  const isDigest = /^[\w-]{43}$/.test(key) && !(toText(row['start']) !== null && key.startsWith(String(row['start'])))
  if (!isDigest) return toHex(await sha256(key))
  return toHex(fromBase64(key.replaceAll('-', '+').replaceAll('_', '/')))
}

/** `{ "files": ["read"] }` is the scope `files:read`. */
function scopesOf(permissions: string | null): string[] {
  try {
    const parsed: unknown = JSON.parse(permissions ?? '{}')
    return Object.entries(Object(parsed) as Record<string, unknown>).flatMap(([thing, actions]) =>
      Array.isArray(actions) ? actions.map((action) => `${thing}:${String(action)}`) : [],
    )
  } catch {
    return []
  }
}

function limitOf(row: SourceFields): KeyTaken['limit'] {
  const [max, milliseconds] = [Number(row['rateLimitMax']), Number(row['rateLimitTimeWindow'])]
  if (!isTrue(row['rateLimitEnabled']) || !(max >= 1) || !(milliseconds >= 1)) return null
  return { max: Math.trunc(max), seconds: Math.ceil(milliseconds / 1000) }
}
