/**
 * What providers denied: a profile said that the address is not verified, and no stored token says so later. Without it the user of an attacker, who holds
 * the address of another user unverified at the provider, would be taken for the owner's user.
 */
import { type AccountKey, type AnyContext, AuthError, type Identity, sha256, toAddress, toHex } from 'authkernel/kernel'

/** What the profile of a sign-in says of its address. */
export interface AddressWord {
  account: AccountKey
  /** Another id under which the account may be stored. */
  former?: string | undefined
  email: string
  verified: boolean
}

// By compiled kernel.
const recordsByKernel = new WeakMap<object, boolean>()

/**
 * Follows what a provider says of the address of an account. Answers what has to be done when the account is new: its user is never stored without the
 * no of the provider.
 */
export async function followWord(ctx: AnyContext, word: AddressWord): Promise<Identity['onLinked']> {
  const { account, email, verified } = word
  if (!hasRecords(ctx)) return undefined
  if (verified) {
    // Only the very address: one that the attacker proves later at the provider says nothing about the denied one.
    await ctx.records('deniedAddress').take(await idOf(account), { if: { address: await digestOf(email) } })
    return undefined
  }
  const owner = await findOwner(ctx, account)
  if (owner !== undefined) {
    await denyAddress(ctx, account, email, owner)
    return undefined
  }
  return async ({ id }) => {
    if (id === undefined) return
    const other = word.former === undefined ? undefined : { provider: account.provider, providerAccountId: word.former }
    const key = other && (await findOwner(ctx, other)) === id ? other : account
    await denyAddress(ctx, key, email, id)
  }
}

/** Whether the provider of an account said that this address is not verified. */
export async function isDenied(ctx: AnyContext, account: AccountKey & { userId?: string }, email: string): Promise<boolean> {
  const row = hasRecords(ctx) ? await ctx.records('deniedAddress').get(await idOf(account)) : null
  return row !== null && row.userId === account.userId && row.address === (await digestOf(email))
}

/** False: a no is remembered nowhere. Each provider registers the record, so the answer is asked of it and kept. */
export function hasRecords(ctx: AnyContext): boolean {
  const { app } = ctx
  if (app.services.records === undefined) return false
  const known = recordsByKernel.get(app)
  if (known !== undefined) return known
  let found = true
  try {
    ctx.records('deniedAddress')
  } catch (error) {
    if (!(error instanceof AuthError)) throw error
    found = false
  }
  recordsByKernel.set(app, found)
  return found
}

async function findOwner({ store }: AnyContext, { provider, providerAccountId }: AccountKey): Promise<string | undefined> {
  return store?.supports('getUserByAccount') ? (await store.getUserByAccount({ provider, providerAccountId }))?.id : undefined
}

async function denyAddress(ctx: AnyContext, account: AccountKey, email: string, userId: string): Promise<void> {
  await ctx.records('deniedAddress').put({ id: await idOf(account), userId, address: await digestOf(email) })
}

async function idOf({ provider, providerAccountId }: AccountKey): Promise<string> {
  return toHex(await sha256(JSON.stringify([provider, providerAccountId])))
}

async function digestOf(email: string): Promise<string> {
  return toHex(await sha256(toAddress(email) ?? email.toLowerCase()))
}
