/** While both products run: what better-auth wrote about one user is taken over when this user signs in, and a password that is chosen here works there. */
import type { AnyContext, ImportTarget } from 'authkernel/kernel'
import type { SharedPasswords } from 'authkernel/plugins/passwords'
import { digestOf, importPages } from '../import/ledger.ts'
import { readEntries } from '../import/tables.ts'
import { removeMissing } from '../import/withdraw.ts'
import { isOpen, isWatched } from './period.ts'
import { type OpenSource, readOrRefuse, type SourceFields, toDate, toText } from './source.ts'
import { banKind, factorKind, type Move, type UserKind, passwordKind } from './users.ts'

/** What a look at the tables of better-auth needs. */
export interface LiveParts {
  openSource: OpenSource
  secretsOf(ctx: AnyContext): readonly string[]
  findTarget(service: string): ImportTarget<never> | undefined
}

/** Name of the source in the ledger. */
export const sourceName = 'better-auth'

/** What `passwordsPlugin` asks. */
export function sharePasswords(parts: LiveParts): SharedPasswords {
  return {
    format: 'better-auth',
    async refresh(ctx, userId) {
      if (!(await isOpen(ctx))) return { lacks: false }
      const { source: tables, ...move } = await openMove(ctx, parts)
      const account = (await readOrRefuse(() => tables.find('account', 'userId', [userId]))).find(
        ({ providerId }) => providerId === 'credential',
      )
      await refreshUser({ ...move, source: tables }, passwordKind(), parts, userId, account)
      return { lacks: userId !== '' && toText(account?.['password']) === null }
    },
    async share(ctx, userId, hash) {
      const { store } = ctx
      if (!store || !(await isOpen(ctx))) return false
      const key = { provider: 'credential', providerAccountId: userId }
      const known = await store.getAccount(userId, 'credential')
      // The columns of accounts are those of better-auth, and the contract of stores does not know its column of hashes.
      const row = { ...key, password: hash } as never
      // As above: the type of an account lacks the column `password`.
      if (!known) await store.linkAccount({ ...key, userId, type: 'credentials', password: hash } as never)
      else if (store.supports('updateAccount')) await store.updateAccount(row)
      else return false
      return true
    },
  }
}

/** Second factors and bans of a user who is about to sign in. Throws Overloaded when the tables of better-auth cannot be read. */
export async function refreshAccess(ctx: AnyContext, parts: LiveParts, userId: string): Promise<void> {
  if (!(await isWatched(ctx))) return
  const move = await openMove(ctx, parts)
  await refreshUser(move, factorKind(), parts, userId)
  await refreshUser(move, banKind(), parts, userId)
}

/** The ban alone: for what signs in without a sign-in. Throws Overloaded as `refreshAccess`. */
export async function refreshBan(ctx: AnyContext, parts: LiveParts, userId: string): Promise<void> {
  if (await isWatched(ctx)) await refreshUser(await openMove(ctx, parts), banKind(), parts, userId)
}

/** Throws Overloaded when the tables cannot be read. */
export async function openMove(ctx: AnyContext, { openSource, secretsOf }: LiveParts): Promise<Move> {
  return { ctx, source: await readOrRefuse(openSource), secrets: secretsOf(ctx), problems: [] }
}

/** As a run of the move with this user alone. Where both sides changed, the last change counts if it is known which one that is; else the operator is asked by the next run. */
async function refreshUser<T>(
  move: Move,
  moved: UserKind<T>,
  { findTarget }: LiveParts,
  userId: string,
  row?: SourceFields,
): Promise<void> {
  const target = findTarget(moved.service) as ImportTarget<T> | undefined
  if (!target || !move.source.has(moved.model)) return
  const { ctx } = move
  const rows = await readOrRefuse(() => moved.rowsOf(move, [userId]))
  const [entry] = await readEntries(ctx, sourceName, moved.kind, [userId])
  const kind = { source: sourceName, kind: moved.kind, target }
  const [found] = rows
  if (!found) {
    const isGone = entry !== undefined && entry.digest !== '' && !(await moved.isThere(move, [userId])).has(userId)
    // Kinds differ in the type of their value. A removal reads keys alone.
    if (isGone) await removeMissing(ctx, kind as never, [userId], { apply: true })
    return
  }
  if (entry?.digest === (await digestOf(found.compare ?? found.value))) return
  const [here] = await target.read(ctx, [found])
  const there = toDate(row?.['updatedAt'])
  const isNewer = there !== null && here?.changed !== undefined && there > here.changed
  // It was gone there and is there again: set up after what was removed here.
  const isBack = here === undefined && entry?.digest === ''
  await importPages(ctx, kind, [rows], { apply: true, conflicts: isNewer || isBack ? 'source' : undefined })
}
