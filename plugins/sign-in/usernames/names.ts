/** The names of users: found, and changed. */
import { type AnyContext, type Context, RecordConflict, type Row } from 'authkernel/kernel'
import type { NameRules } from './options.ts'
import { type NameRefusal, toName } from './rules.ts'
import { skeletonOf } from './skeleton.ts'
import type { UserNameRow } from './tables.ts'

/** The row of a name, however it was typed; null: none. */
export async function findByName(ctx: AnyContext, rules: NameRules, typed: unknown): Promise<Row<UserNameRow> | null> {
  const found = toName(typed, rules)
  return 'error' in found ? null : ctx.records('userName').get({ name: found.name })
}

/** The row of a user; null: the user has no name. */
export async function ownName(ctx: AnyContext, userId: string): Promise<Row<UserNameRow> | null> {
  return ctx.records('userName').get({ userId })
}

/** Gives a name. Two unique keys decide between requests for one name, or for two that look alike. */
export async function setName(
  ctx: AnyContext,
  rules: NameRules,
  userId: string,
  typed: unknown,
): Promise<{ name: string } | { error: NameRefusal }> {
  const found = toName(typed, rules)
  if ('error' in found) return found
  const { name } = found
  const names = ctx.records('userName')
  const own = await ownName(ctx, userId)
  const skeleton = skeletonOf(name)
  if (own?.name === name) return { name }
  try {
    if (own) await names.update(own.id, { name, skeleton, changed: ctx.now })
    else await names.create({ userId, name, skeleton, changed: ctx.now })
  } catch (error) {
    if (!(error instanceof RecordConflict)) throw error
    return { error: 'UserNameTaken' }
  }
  return { name }
}

/** `setName` for users themselves. */
export async function changeName(
  ctx: Context,
  rules: NameRules,
  id: string,
  name: unknown,
): Promise<{ name: string } | { error: NameRefusal }> {
  // Trying names tells which are taken: not many an hour.
  const { allowed } = await ctx.limit.take(`usernames ${id}`, { max: 20, seconds: 3600 })
  return allowed ? setName(ctx, rules, id, name) : { error: 'UserNameTaken' }
}
