/** `auth.twoFactor`: for server code, support and administrators. */
import { type AnyContext, AuthError, type Context, type JobContext, jobFor, type Kernel, type OfTenant, type User } from 'authkernel/kernel'
import { applyChange } from './changes.ts'
import { confirmedFactors } from './factors.ts'
import { type Person, personOfLogin, raiseGeneration, readState } from './person.ts'

/** Whose: the person who is signed in on a request, or a stored user. `tenant` names the tenant where there are several. */
export type FactorsOf = Request | ({ userId: string } & OfTenant)
/** A factor without its secret. */
export interface ListedFactor {
  id: string
  kind: string
  created: Date
}
/** What the plugin puts on `auth`. It checks whose factors are asked for, not who asks. */
export interface TwoFactorApi {
  twoFactor: {
    /** Empty: the person has none, or nobody is signed in. */
    list(who: FactorsOf): Promise<ListedFactor[]>
    /** How many backup codes are left. */
    backupCodes(who: FactorsOf): Promise<number>
    /**
     * For an administrator whom you have checked: removes all factors, ends all sessions, and asks for a proof of the address and a new factor at
     * the next sign-in. Answers no code. Throws AuthError without a `reason`.
     */
    reset(user: { userId: string } & OfTenant, by: { admin: User; reason: string }): Promise<void>
  }
}

export function createApi(kernel: Kernel): TwoFactorApi['twoFactor'] {
  return {
    async list(who) {
      const { ctx, person } = await findPerson(kernel, who)
      const rows = person ? await confirmedFactors(ctx, person) : []
      return rows.map(({ id, kind, created }) => ({ id, kind, created }))
    },
    async backupCodes(who) {
      const { ctx, person } = await findPerson(kernel, who)
      return person ? ctx.records('twoFactorBackupCode').count({ person: person.key }, { max: 10 }) : 0
    },
    async reset(user, { admin, reason }) {
      if (typeof reason !== 'string' || reason.trim() === '')
        throw new AuthError('twoFactor.reset: give a `reason`; the audit log keeps it.')
      const { ctx, person } = await findPerson(kernel, user)
      if (!person) throw new AuthError('twoFactor.reset: there is no such user.')
      await resetFactors(ctx, person, { admin, reason })
    },
  }
}

/** Removes all factors of a person; the next sign-in asks for a proof of the address and a new factor. */
export async function resetFactors(ctx: AnyContext, person: Person, { admin, reason }: { admin: User; reason: string }): Promise<void> {
  // First: a sign-in between these writes finds the factors or the demand for new ones.
  const { id } = await readState(ctx, person)
  await ctx.records('twoFactorState').update(id, { proveAddress: true, failures: 0, until: ctx.now })
  await ctx.records('twoFactor').deleteWhere({ where: { person: person.key } })
  await ctx.records('twoFactorBackupCode').deleteWhere({ where: { person: person.key } })
  await raiseGeneration(ctx, person)
  await ctx.emit('factorsReset', { user: person.user, admin, reason })
  await applyChange(ctx, person, 'removed', { others: true })
}

async function findPerson(kernel: Kernel, who: FactorsOf): Promise<{ ctx: Context | JobContext; person: Person | undefined }> {
  if (who instanceof Request) {
    const ctx = await kernel.contextOf(who)
    const login = await ctx.loginAgain({ callbackUrl: ctx.origin })
    return { ctx, person: login ? await personOfLogin(ctx, login) : undefined }
  }
  const ctx = await kernel.contextOf(jobFor('twoFactor', who))
  const user = ctx.store ? await ctx.store.getUser(who.userId) : { id: who.userId }
  return { ctx, person: user ? { key: `user:${who.userId}`, userId: who.userId, user } : undefined }
}
