/** Emails of users beside the one that counts: rows of an index, so that a search finds users by each of their emails in a directory of any size. */
import { type AnyContext, RecordConflict, type Row, toAddress } from 'authkernel/kernel'
import { listRows } from 'authkernel/kernel/stores'
import { toTextKey } from './resource.ts'
import type { ScimUserRow } from './tables.ts'

type Owner = Pick<Row<ScimUserRow>, 'id' | 'directoryId' | 'userId' | 'email' | 'data'>

const maxKey = 255
const maxFound = 500

/** As the index has an email: other forms of the same one are equal. What is no email is a text. */
export function toEmailKey(email: string): string {
  return toAddress(email) ?? toTextKey(email)
}

/** Emails of the resource without the one that counts, which the row has itself. */
export function listFurtherEmails({ email, data }: Pick<Owner, 'email' | 'data'>): ReadonlySet<string> {
  const { emails } = Object(data) as { emails?: readonly { value?: unknown }[] }
  const keys = (emails ?? []).flatMap(({ value }) => (typeof value === 'string' && value !== '' ? [toEmailKey(value)] : []))
  return new Set(keys.filter((key) => key !== email && key.length <= maxKey))
}

/** Writes what is missing, before the row has it: a row of the index alone finds no user, because each user that it finds is looked at. */
export async function indexEmails(ctx: AnyContext, owner: Owner): Promise<void> {
  const wanted = listFurtherEmails(owner)
  if (wanted.size === 0) return
  const table = ctx.records('scimEmail')
  const held = new Set((await listRows(table, { where: { scimUserId: owner.id } })).map(({ email }) => email))
  const { id: scimUserId, directoryId, userId } = owner
  const missing = [...wanted].filter((email) => !held.has(email)).map((email) => ({ scimUserId, directoryId, userId, email }))
  if (missing.length === 0) return
  if (await tryToWrite(table.createMany(missing))) return
  // Another request wrote some of them.
  for (const row of missing) await tryToWrite(table.create(row))
}

/** False: there is such a row. */
async function tryToWrite(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
    return false
  }
}

/** Removes what a change took away. Another change may have added it again meanwhile. */
export async function pruneEmails(ctx: AnyContext, before: Owner, after: Owner): Promise<void> {
  const kept = listFurtherEmails(after)
  const gone = [...listFurtherEmails(before)].filter((email) => !kept.has(email))
  for (const email of gone) await ctx.records('scimEmail').take({ scimUserId: before.id, email })
  const now = gone.length > 0 ? await ctx.records('scimUser').get(before.id) : null
  if (now) await indexEmails(ctx, now)
}

/** Users of a directory who have the email: by the one that counts, and by the others. */
export async function findByEmail(ctx: AnyContext, directoryId: string, typed: string): Promise<Row<ScimUserRow>[]> {
  const email = toEmailKey(typed)
  if (email.length > maxKey) return []
  const where = { directoryId, email }
  const [{ rows }, further] = await Promise.all([
    ctx.records('scimUser').find({ where, limit: maxFound }),
    ctx.records('scimEmail').find({ where, limit: maxFound }),
  ])
  const known = new Set(rows.map(({ id }) => id))
  const ids = further.rows.map(({ scimUserId }) => scimUserId).filter((id) => !known.has(id))
  return ids.length === 0 ? rows : [...rows, ...(await ctx.records('scimUser').getMany(ids))]
}
