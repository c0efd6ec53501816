/** Everything that is kept about one user, as JSON: the user, accounts, passkeys, and the rows of every plugin that name their owner. */
import type { AnyContext, Row } from 'authkernel/kernel'
import { listOwnedRows } from 'authkernel/kernel/users'
import { type LinkedAccount, toLinkedAccount } from './linked-account.ts'

/** What a user may take along. Dates are `Date`s here, and texts after JSON. */
export interface DataExport {
  /** When it was made. */
  exportedAt: Date
  /** The stored user with the custom fields of the host. */
  user: {
    id: string
    name: string | null
    email: string | null
    image: string | null
    emailVerified: Date | null
    [field: string]: unknown
  }
  /** Without tokens. */
  accounts: LinkedAccount[]
  /** Without keys, which are of no use elsewhere. */
  passkeys: { id: string; synced: boolean; transports: string[] }[]
  /** Rows by the name of the record. Secrets, hashes and encrypted fields are left out. */
  records: Record<string, Row<Record<string, unknown>>[]>
}

/** Null: there is no such user. */
export async function exportData(ctx: AnyContext, userId: string): Promise<DataExport | null> {
  const store = ctx.service('store')
  const stored = await store.getUser(userId)
  if (!stored) return null
  const { id, name = null, email = null, image = null, emailVerified } = stored
  // `User` has no index, since own fields are typed by the host; they are columns all the same.
  const own = store.fieldNames.map((field) => [field, (stored as unknown as Record<string, unknown>)[field] ?? null])
  const accounts = store.supports('listAccountsByUserId') ? await store.listAccountsByUserId(userId) : []
  const passkeys = store.supports('listAuthenticatorsByUserId') ? await store.listAuthenticatorsByUserId(userId) : []
  return {
    exportedAt: ctx.now,
    user: { ...Object.fromEntries(own), id, name, email, image, emailVerified },
    accounts: accounts.map(toLinkedAccount),
    passkeys: passkeys.map(({ credentialID, credentialBackedUp, transports }) => ({
      id: credentialID,
      synced: credentialBackedUp,
      transports: transports?.split(',') ?? [],
    })),
    records: await listOwnedRows(ctx, userId),
  }
}
