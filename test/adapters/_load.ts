/** What one of two processes does to a store for a while; the other does the same, at the same moments, to the same people, links and keys. */
import { setTimeout as pause } from 'node:timers/promises'
import type { AdapterUser, NewAdapterAccount } from 'authkernel/kernel'
import type { SqlAdapter } from 'authkernel/plugins/sql'
import type { UnstorageAdapter } from 'authkernel/plugins/unstorage'
import { inHours, newAccount, newSession, newUser } from '../../src/testing/adapter-subject.ts'

/** One process's part. */
export interface LoadTask {
  do: 'load'
  /** Begins every key of this run. */
  name: string
  turn: 0 | 1
  /** When the first round begins, by the clock that both share. */
  start: number
  seconds: number
}
/** What happened, by the number of the round. */
export interface LoadReport {
  rounds: number[]
  /** Links that were made, and each use of one that was accepted. */
  made: number[]
  used: number[]
  /** Keys that were taken once, accounts that were linked, people who were deleted. */
  onces: number[]
  linked: number[]
  deleted: number[]
  /** Attempts that were let through, by key. */
  allowed: Record<string, number>
  /** What should not have happened. */
  errors: string[]
  heap: number
}
type Store = SqlAdapter | UnstorageAdapter

// A round every so many milliseconds, in both processes at once; who is late leaves rounds out and joins at the next multiple of `joins`,
// where the other, when it is late too, joins as well.
const beat = 100
const joins = 10
// So many rounds later people are deleted.
const life = 20

/** Attempts that a key may have. */
export const attempts = 3

/** Works until the time is over. */
export async function load(store: Store, { name, turn, start, seconds }: LoadTask): Promise<LoadReport> {
  const report: LoadReport = { rounds: [], made: [], used: [], onces: [], linked: [], deleted: [], allowed: {}, errors: [], heap: 0 }
  const now = (): number => Math.floor((Date.now() - start) / beat)
  const keyOf = (round: number): { provider: string; providerAccountId: string } => ({
    provider: 'acme',
    providerAccountId: `${name}-${round}`,
  })
  const mailOf = (round: number): string => `${name}-${round}@example.com`
  const mine = await store.createUserWithAccount(newUser(), withoutOwner({}))
  const ids = new Map<number, string>()

  /** Who signed up in a round, whichever process was first. */
  async function person(round: number): Promise<AdapterUser> {
    const user = newUser({ email: mailOf(round) })
    const refusal = await refusalOf(() => store.createUserWithAccount(user, withoutOwner(keyOf(round))))
    const owner = await store.getUserByAccount(keyOf(round))
    if (!owner) throw new Error(`no user has the account (${String(refusal)})`)
    if (!refusal && owner.id !== user.id) throw new Error('the account of a new user belongs to another user')
    if ((await store.getUserByEmail(mailOf(round)))?.id !== owner.id) throw new Error('the account and the address have two owners')
    return owner
  }

  async function session(owner: AdapterUser): Promise<void> {
    const made = newSession(owner.id)
    await store.createSession(made)
    if ((await store.getSessionAndUser(made.sessionToken))?.user.id !== owner.id) throw new Error('the session is not there')
    await Promise.all([
      store.updateSession({ sessionToken: made.sessionToken, expires: inHours(2) }),
      store.deleteSession(made.sessionToken),
    ])
    if (await store.getSessionAndUser(made.sessionToken)) throw new Error('the session came back')
  }

  async function link(round: number): Promise<void> {
    const token = { identifier: mailOf(round), token: `token-${round}` }
    if (round % 2 === turn) {
      await store.createVerificationToken({ ...token, expires: inHours(1) })
      report.made.push(round)
    }
    for (const found of await Promise.all([1, 2].map(() => store.useVerificationToken(token)))) if (found) report.used.push(round)
  }

  async function counted(round: number): Promise<void> {
    if (await store.once.take(`${name}-${round}`, 3600)) report.onces.push(round)
    const key = `${name}-limit-${Math.floor(round / 8)}`
    if ((await store.limit.take(key, { max: attempts, seconds: 3600 })).allowed) report.allowed[key] = (report.allowed[key] ?? 0) + 1
  }

  async function account(round: number): Promise<void> {
    const key = { provider: 'shared', providerAccountId: `${name}-${round}` }
    const linked = (await refusalOf(() => store.linkAccount(newAccount(mine.id, key)))) === undefined
    const owner = await store.getUserByAccount(key)
    if (linked) report.linked.push(round)
    if (!owner || linked !== (owner.id === mine.id)) throw new Error('the shared account has the wrong owner')
  }

  async function counter(round: number): Promise<void> {
    const next = 2 + round * 2 + turn
    await refusalOf(() => store.updateAuthenticatorCounter(name, next))
    const { counter } = (await store.getAuthenticator(name))!
    if (counter < next) throw new Error(`the counter is ${counter} after ${next}`)
  }

  async function leave(round: number): Promise<void> {
    const id = ids.get(round)
    ids.delete(round)
    if (id === undefined || round % 3 !== 0) return
    await store.deleteUser(id)
    if ((await store.getUser(id)) || (await store.getUserByEmail(mailOf(round)))) throw new Error('a deleted user is there')
    report.deleted.push(round)
  }

  for (let last = -1; ;) {
    const round = now() > last + 1 ? Math.ceil(now() / joins) * joins : last + 1
    await pause(Math.max(0, start + round * beat - Date.now()))
    if (round * beat >= seconds * 1000) break
    last = round
    const step = async (what: string, work: Promise<unknown>): Promise<void> => {
      await work.catch((error: unknown) => {
        // A request that is that late finds the person deleted by the other process.
        const gone = round % 3 === 0 && now() >= round + life
        if (!gone && report.errors.length < 20) report.errors.push(`round ${round}, ${what}: ${String(error)}`)
      })
    }
    await step(
      'person',
      (async () => {
        const owner = await person(round)
        ids.set(round, owner.id)
        await session(owner)
      })(),
    )
    await Promise.all([step('link', link(round)), step('account', account(round)), step('counter', counter(round))])
    await Promise.all([step('counted', counted(round)), step('leave', leave(round - life))])
    report.rounds.push(round)
  }
  report.heap = process.memoryUsage().heapUsed
  return report
}

/** What an operation threw. */
async function refusalOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
    return undefined
  } catch (error) {
    return error
  }
}

function withoutOwner(key: Partial<ReturnType<typeof newAccount>>): NewAdapterAccount {
  const { userId: _none, ...account } = newAccount('', key)
  return account
}
