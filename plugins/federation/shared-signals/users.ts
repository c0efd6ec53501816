/** Which stored user a sender means. `profile()` may have made the id of the account of something else than the `sub` that senders know. */
import { type AdapterAccount, type AnyContext, type Login, sha256, toHex } from 'authkernel/kernel'
import { unverifiedJwt } from 'authkernel/kernel/protocols'
import { indexedName } from 'authkernel/kernel/strategies'

/** A user, by the name that an issuer gave. */
export interface Person {
  provider: string
  issuer: string
  sub: string
}

/** A `sub` or `sid` as sessions and accounts keep it. */
export async function canonicalName(ctx: AnyContext, { provider, issuer }: Omit<Person, 'sub'>, name: string): Promise<string> {
  return (await ctx.service('oauth').named?.(ctx, provider, issuer, name)) ?? name
}

/** After a sign-in: remembers whose name it is, where the account does not say it. */
export async function keepSubject(ctx: AnyContext, { user, account, proof }: Login): Promise<void> {
  if (account.type !== 'oidc' || user.id === undefined || proof.sub === undefined || proof.sub === account.providerAccountId) return
  await ctx.records('providerSubject').put({ id: await subjectRowId(account.provider, proof.sub), userId: user.id })
}

/** Undefined: no user whom this issuer has signed in. `keeps`: whether names are remembered. */
export async function findUserId(ctx: AnyContext, person: Person, keeps: boolean): Promise<string | undefined> {
  const { provider } = person
  const name = await canonicalName(ctx, person, person.sub)
  const row = keeps ? await ctx.records('providerSubject').get(await subjectRowId(provider, name)) : null
  if (row) return row.userId
  const { store } = ctx
  const owner = store?.supports('getUserByAccount') ? await store.getUserByAccount({ provider, providerAccountId: name }) : null
  if (owner && (await isNamed(ctx, owner.id, person, name))) return owner.id
  // Sessions know the name from before it was remembered.
  return keeps ? await bySession(ctx, provider, name) : undefined
}

/** The name of the user whose account it is, at this issuer; undefined: the account is of another one. */
export async function subOf(ctx: AnyContext, sender: Omit<Person, 'sub'>, account: AdapterAccount): Promise<string | undefined> {
  const { providerAccountId: id, id_token: token } = account
  const claims = typeof token === 'string' ? unverifiedJwt(token)?.claims : undefined
  const severalIssuers = (await canonicalName(ctx, { ...sender, issuer: '' }, 'x')) !== 'x'
  if (typeof claims?.['sub'] === 'string') return !severalIssuers || claims['iss'] === sender.issuer ? claims['sub'] : undefined
  if (!severalIssuers) return id
  const lead = `${sender.issuer}#`
  if (id.startsWith(lead)) return id.slice(lead.length)
  return (await canonicalName(ctx, sender, id)) === id ? id : undefined
}

// The id of one person's account may be the name of another person.
async function isNamed({ store }: AnyContext, userId: string, { provider, sub }: Person, accountId: string): Promise<boolean> {
  if (!store?.supports('listAccountsByUserId')) return true
  const accounts = await store.listAccountsByUserId(userId)
  const token = accounts.find((one) => one.provider === provider && one.providerAccountId === accountId)?.id_token
  const claims = typeof token === 'string' ? unverifiedJwt(token)?.claims : undefined
  return claims === undefined || claims['sub'] === sub
}

async function bySession(ctx: AnyContext, provider: string, name: string): Promise<string | undefined> {
  const { rows } = await ctx.records('sessionRecord').find({ where: { provider, sub: await indexedName(name) }, limit: 1 })
  return rows[0] ? String((rows[0] as { userId?: unknown }).userId) : undefined
}

async function subjectRowId(provider: string, name: string): Promise<string> {
  return toHex(await sha256(JSON.stringify([provider, name])))
}
