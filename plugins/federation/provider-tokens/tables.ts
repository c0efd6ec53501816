/** The record of one account's tokens, and how it changes: each change names the generation and the lease that it found. */
import type { AnyContext, RecordSpec, RecordTable, Row, TokenSet } from 'authkernel/kernel'

/** What is stored, beside `id`. */
export interface ProviderTokenRow extends Record<string, unknown> {
  userId: string
  provider: string
  account: string
  /** The session at the provider that they are of, as `indexedName` makes it. */
  sid: string | null
  /** What the provider calls the user, as `indexedName` makes it; null in rows of former versions: the account has the name then. */
  sub: string | null
  /** Of the last sign-in. */
  at: Date
  /** Grows with each new set. */
  generation: number
  /** `ready`; `refreshing`: a lease is out; `unknown`: it is not known whether the refresh token was used; `lost`: only a new sign-in helps. */
  state: string
  /** Id of the request that refreshes now; empty: none. */
  lease: string
  leaseUntil: Date | null
  /** Refreshes in a row at which the provider kept the refresh token. */
  kept: number
  /** Tries that ended in `unknown`. */
  tries: number
  /** No request to the provider before. */
  notBefore: Date | null
  /** Granted for the time after the session at the provider too (`offline_access`). */
  lasting: boolean
  tokens: TokenSet
  /** For users who are not stored: the end of their session. */
  expires: Date | null
}
export type TokenRow = Row<ProviderTokenRow>

declare module 'authkernel/kernel' {
  interface Records {
    providerToken: ProviderTokenRow
  }
}

export const providerTokenTable: RecordSpec<ProviderTokenRow> = {
  fields: {
    userId: { type: 'string', max: 200 },
    provider: { type: 'string', max: 64 },
    account: { type: 'string', max: 255 },
    sid: { type: 'string', max: 200, optional: true },
    sub: { type: 'string', max: 200, optional: true },
    at: { type: 'date' },
    generation: { type: 'integer' },
    state: { type: 'string', max: 16 },
    lease: { type: 'string', max: 64, default: '' },
    leaseUntil: { type: 'date', optional: true },
    kept: { type: 'integer', default: 0 },
    tries: { type: 'integer', default: 0 },
    notBefore: { type: 'date', optional: true },
    lasting: { type: 'boolean', default: true },
    tokens: { type: 'json', sealed: true },
    expires: { type: 'date', optional: true },
  },
  unique: [['userId', 'provider', 'account']],
  index: [
    ['userId', 'provider', 'at'],
    ['provider', 'account', 'lasting', 'at'],
    ['provider', 'sid', 'lasting', 'at'],
    ['provider', 'sub', 'lasting', 'at'],
  ],
  owner: 'user',
  expires: 'expires',
}

export function tokenRows(ctx: AnyContext): RecordTable<ProviderTokenRow> {
  return ctx.records('providerToken')
}

/** Whether a set was granted for the time after the session at the provider (`offline_access`, OpenID Connect Core 1.0 section 11). */
export function isLasting({ scope = '' }: TokenSet): boolean {
  return scope.split(' ').includes('offline_access')
}

/** False: what is sealed cannot be opened, because its secret is gone. */
export function isReadable({ tokens }: TokenRow): boolean {
  return (tokens as TokenSet | null) !== null
}

/** The account that the user used last. */
export async function newestRow(ctx: AnyContext, userId: string, provider: string): Promise<TokenRow | null> {
  const found = await tokenRows(ctx).find({ where: { userId, provider }, order: 'desc', limit: 1 })
  return found.rows[0] ?? null
}

/** Changes the row when it is still what was read; null: another request was faster. */
export function changeRow(ctx: AnyContext, row: TokenRow, next: Partial<ProviderTokenRow>): Promise<TokenRow | null> {
  const { generation, lease, state } = row
  return tokenRows(ctx).update(row.id, next, { if: { generation, lease, state } })
}
