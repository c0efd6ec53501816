/** Writes of a new user and account that survive races, faults and late answers (D32, D35). */
import type { AdapterAccount, AdapterUser, NewAdapterAccount, Store } from '../contract/adapter.ts'
import type { Context } from '../contract/context.ts'
import type { User } from '../contract/data.ts'
import type { Identity } from '../contract/login.ts'
import { randomUUID } from '../keys/crypto.ts'
import { innermostOf } from '../registry/overlay.ts'
import { healedFault } from '../store/store-error.ts'
import { lateAnswer } from '../store/store.ts'
import { rememberCreatedUser, waitForAddress, wasUserCreatedHere } from './address-queue.ts'
import { writeNewUser } from './create-user.ts'

/** What became of it; `createdUser` and `linked` are true for exactly one of several simultaneous callers. */
export interface SignInWrite {
  user: User
  createdUser: boolean
  linked: boolean
}

/** Another user was made with the address since it was looked for. */
export class AddressTaken extends Error {}

const runningWrites = new WeakMap<Store, Map<string, Promise<SignInWrite>>>()
// Milliseconds after which what a request has read is read again before a user is made of it.
const maxReadAge = 20
// Milliseconds that another process may need between its createUser and its linkAccount.
const ownerPauses = [20, 60, 150]

/** Creates the owner and the account, or adds the account to `owner`; callers of the same key at the same time share one write. */
export async function writeOnce(ctx: Context, identity: Identity, owner?: AdapterUser): Promise<SignInWrite> {
  const store = ctx.store as Store
  const running = runningWritesOf(store)
  const key = identityKey(identity)
  const other = running.get(key)
  if (other) return { user: (await other).user, createdUser: false, linked: false }
  const work = createUnlessTaken(ctx, store, identity, owner).finally(() => running.delete(key))
  running.set(key, work)
  return work
}

/**
 * Reads again before a user is made, when another request may have been faster: a slow `signIn` hook, two links for one address. Stores without unique
 * keys would keep two users. Throws AddressTaken.
 */
async function createUnlessTaken(ctx: Context, store: Store, identity: Identity, owner: AdapterUser | undefined): Promise<SignInWrite> {
  if (owner) return writeRows(ctx, store, identity, owner)
  const { email } = identity.user
  // One at a time for an address, whatever the accounts are called.
  const release = email ? await waitForAddress(store, email) : undefined
  try {
    const known = email && (release?.waited || wasUserCreatedHere(store, email) || ctx.runtime.now() - ctx.facts.at >= maxReadAge)
    if (known && store.supports('getUserByEmail')) {
      const { provider, providerAccountId } = identity.account
      const found = identity.match === 'account' ? await store.getUserByAccount({ provider, providerAccountId }) : null
      const holder = found ?? (await store.getUserByEmail(email))
      if (found || (holder && identity.match === 'email')) return { user: holder as AdapterUser, createdUser: false, linked: false }
      if (holder) throw new AddressTaken(`The address was taken by user ${holder.id}.`)
    }
    const written = await writeRows(ctx, store, identity, owner)
    if (email && written.createdUser) rememberCreatedUser(store, email)
    return written
  } finally {
    release?.done()
  }
}

/**
 * The owner of the account once the request that makes it has finished, or null. Stores with a transaction have no moment
 * in which the user is there and the account is not; for others that moment is waited for, unless `brief`.
 */
export async function awaitOwner(ctx: Context, identity: Identity, brief: boolean): Promise<AdapterUser | null> {
  const store = ctx.store as Store
  await runningWritesOf(store)
    .get(identityKey(identity))
    ?.catch(() => {})
  const { provider, providerAccountId } = identity.account
  const owner = (): Promise<AdapterUser | null> =>
    ownerAfterLateWrites(store, identityKey(identity), () => store.getUserByAccount({ provider, providerAccountId }))
  const found = await owner()
  return found || brief || store.supports('createUserWithAccount') ? found : pollOwner(owner)
}

async function pollOwner(read: () => AdapterUser | null | PromiseLike<AdapterUser | null>): Promise<AdapterUser | null> {
  for (const delay of ownerPauses) {
    await new Promise((resolve) => setTimeout(resolve, delay))
    const found = await read()
    if (found) return found
  }
  return null
}

function runningWritesOf(store: Store): Map<string, Promise<SignInWrite>> {
  let running = runningWrites.get(innermostOf(store))
  if (!running) runningWrites.set(innermostOf(store), (running = new Map()))
  return running
}

/** Names the user whom an identity is about. */
export function identityKey({
  match,
  user,
  account: { provider, providerAccountId },
}: Pick<Identity, 'match' | 'user' | 'account'>): string {
  return JSON.stringify(match === 'email' ? [user.email] : [provider, providerAccountId])
}

async function writeRows(ctx: Context, store: Store, identity: Identity, owner: AdapterUser | undefined): Promise<SignInWrite> {
  const candidate = newUserOf(ctx, identity)
  if (owner) return writeCandidate(ctx, store, identity, owner, candidate)
  const { account, trustsEmail } = identity
  return writeNewUser(
    ctx,
    { user: candidate, account, proved: candidate.emailVerified !== null || trustsEmail === true },
    () => writeCandidate(ctx, store, identity, undefined, candidate),
    ({ createdUser, user }) => (createdUser ? user : null),
  )
}

async function writeCandidate(
  ctx: Context,
  store: Store,
  identity: Identity,
  owner: AdapterUser | undefined,
  candidate: AdapterUser,
): Promise<SignInWrite> {
  const links = identity.match === 'account'
  let created: AdapterUser | undefined
  let linked = false
  try {
    if (owner) {
      await store.linkAccount(accountOf(identity, owner.id))
      linked = true
    } else if (links && store.supports('createUserWithAccount')) {
      created = await store.createUserWithAccount(candidate, recordOf(identity))
      linked = true
    } else {
      created = await store.createUser(candidate)
      if (links) await store.linkAccount(accountOf(identity, created.id))
      linked = links
    }
  } catch (error) {
    return recoverWrite(ctx, store, identity, error, { owner, candidate, created })
  }
  const user = created ?? (owner as AdapterUser)
  try {
    await identity.onLinked?.(user)
  } catch (error) {
    await undoWrite(ctx, store, linked ? identity : undefined, created)
    throw error
  }
  return { user, createdUser: created !== undefined, linked }
}

interface Attempt {
  owner: AdapterUser | undefined
  candidate: AdapterUser
  created: AdapterUser | undefined
}

/**
 * After a failed write: the write may be done and only its answer lost, or another request was faster; either way the user has an account.
 * Else what this request made is taken back, so that a retry signs in instead of meeting half a user. Throws `error` then.
 */
async function recoverWrite(
  ctx: Context,
  store: Store,
  identity: Identity,
  error: unknown,
  { owner, candidate, created }: Attempt,
): Promise<SignInWrite> {
  // An answer that was lost after the commit: the id that we gave tells our user from others.
  const mine = created ?? (owner ? undefined : ((await readQuietly(() => store.getUser(candidate.id))) ?? undefined))
  const winner = await findWinner(store, identity, mine)
  const makesUser = !owner && !created
  undoWhenLateAnswerArrives(store, identityKey(identity), error, (answer) => {
    if (!makesUser) return winner ? undefined : undoWrite(ctx, store, identity, undefined)
    // This answer was not checked.
    const id = (answer as AdapterUser | null | undefined)?.id
    return id === undefined || id === winner?.id ? undefined : undoWrite(ctx, store, undefined, answer as AdapterUser)
  })
  if (winner) ctx.logger.warn('store-fault-healed', healedFault(error))
  const isOurs = winner !== null && winner.id === mine?.id
  if (winner && (isOurs || winner.id === owner?.id)) {
    await identity.onLinked?.(winner)
    return { user: winner, createdUser: isOurs, linked: identity.match === 'account' }
  }
  await undoWrite(ctx, store, undefined, mine)
  if (!winner) throw error
  return { user: winner, createdUser: false, linked: false }
}

/** Who owns the account now; waits a little while another process is between its two writes. */
async function findWinner(store: Store, identity: Identity, created: AdapterUser | undefined): Promise<AdapterUser | null> {
  const { provider, providerAccountId } = identity.account
  const { email } = identity.user
  const byEmail = (): Promise<AdapterUser | null> =>
    readQuietly(() => (email && store.supports('getUserByEmail') ? store.getUserByEmail(email) : null))
  if (identity.match === 'email') return byEmail()
  const byAccount = (): Promise<AdapterUser | null> => readQuietly(() => store.getUserByAccount({ provider, providerAccountId }))
  const owner = await byAccount()
  if (owner || created || !(await byEmail())) return owner
  return pollOwner(byAccount)
}

/** Takes back what this request made: an account without its user, or a user without an account, locks the user out. */
async function undoWrite(ctx: Context, store: Store, linked: Identity | undefined, created: AdapterUser | undefined): Promise<void> {
  try {
    if (linked && store.supports('unlinkAccount')) {
      const { provider, providerAccountId } = linked.account
      await store.unlinkAccount({ provider, providerAccountId })
    }
    if (created && store.supports('deleteUser')) await store.deleteUser(created.id)
  } catch (error) {
    ctx.logger.error(error as Error)
  }
}

async function readQuietly(read: () => AdapterUser | null | PromiseLike<AdapterUser | null>): Promise<AdapterUser | null> {
  try {
    return await read()
  } catch {
    return null
  }
}

/** What is stored of the account: `record` with its key. */
export function recordOf({ record, account }: Identity): NewAdapterAccount {
  const { provider, providerAccountId, type } = account
  return { ...(record ?? account), provider, providerAccountId, type } as NewAdapterAccount
}

/** The same with its owner. */
export function accountOf(identity: Identity, userId: string): AdapterAccount {
  return { ...recordOf(identity), userId } as AdapterAccount
}

function newUserOf(ctx: Context, { user, match, provesEmail }: Identity): AdapterUser {
  const proved = match === 'email' || (provesEmail === true && Boolean(user.email))
  // Published adapters get what Auth.js would give them.
  const none = !user.email && ctx.store?.nullableEmail ? { email: null } : {}
  return { ...user, ...none, id: user.id ?? randomUUID(ctx.runtime), emailVerified: proved ? ctx.now : null } as AdapterUser
}

/** A write whose answer is still to come, or was not yet undone. */
interface LateWrite {
  /** A later sign-in of the same user went on with what was written. */
  kept: boolean
  undone?: Promise<void>
}

const lateWrites = new WeakMap<Store, Map<string, LateWrite>>()

/**
 * Undoes a write when its late answer arrives, unless a sign-in went on with it meanwhile. `key` is the user; `undo` is called with the
 * answer. No caller waits for it, so nothing is thrown.
 */
function undoWhenLateAnswerArrives(store: Store, key: string, error: unknown, undo: (answer: unknown) => Promise<void> | undefined): void {
  const answer = lateAnswer(error)
  if (!answer) return
  const pending = lateWrites.get(innermostOf(store)) ?? new Map<string, LateWrite>()
  lateWrites.set(innermostOf(store), pending)
  const late: LateWrite = { kept: false }
  pending.set(key, late)
  const forget = (): void => void (pending.get(key) === late && pending.delete(key))
  answer.then((value) => (late.kept ? undefined : (late.undone = Promise.resolve(undo(value)).then(() => {})))).then(forget, forget)
}

/** The owner that `read` finds, which a late write may have made: it is kept from now on, or, when it is being undone, looked for again afterwards. */
export async function ownerAfterLateWrites(
  store: Store,
  key: string,
  read: () => AdapterUser | null | PromiseLike<AdapterUser | null>,
): Promise<AdapterUser | null> {
  const found = await read()
  const late = found && lateWrites.get(innermostOf(store))?.get(key)
  if (!late) return found
  if (!late.undone) {
    late.kept = true
    return found
  }
  await late.undone.catch(() => {})
  return read()
}
