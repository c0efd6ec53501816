/** One run of an import: the export is read twice, first to say what it would do, and then, where nothing stops it, to do it. */
import { AdapterError, type AnyContext, type ImportTarget } from 'authkernel/kernel'
import type { MemberTaken, OrganizationTaken } from 'authkernel/plugins/organizations'
import { accountKey, createAccountTarget } from './accounts.ts'
import { createFieldTarget } from './fields.ts'
import { createLane } from './lane.ts'
import { type Beginning, findBeginning, type ImportRun, pageSize, importPages } from './ledger.ts'
import { toMembers, toOrganizations } from './organizations.ts'
import { type Abilities, notePassword, splitUser, type UserParts } from './parts.ts'
import { createProblems, type Problems } from './problems.ts'
import { type ImportProblem, type ImportReport, type KindReport, listOpen, newKindReport, problemsOf } from './report.ts'
import type { ImportedRow, ImportedMember, ImportedOrganization, ImportedPassword, ImportedUser } from './sources/shape.ts'
import { readEntries } from './tables.ts'
import { lockRun } from './run-lock.ts'
import { createUserTarget, type UserTaken } from './users.ts'
import { findWithheld, removeMissing, withoutCredentials } from './withdraw.ts'

// Pages under way.
const pagesAtOnce = 3

/** What one run works with. */
export interface RunInput extends ImportRun {
  source: string
  /** Reads the export from its beginning. */
  rows(problems: Problems): AsyncIterable<ImportedRow>
  /** Names of problems that do not stop the run. */
  accept: readonly string[]
  able: Abilities
  targets: PartTargets
  /** Called after each page with the number of rows so far. */
  onProgress?: ((rows: number, stage: 'look' | 'write') => void) | undefined
}
/** Where the parts of a user go; undefined: the app has no plugin for it. */
export interface PartTargets {
  passwords: ImportTarget<NonNullable<UserParts['password']>> | undefined
  factors: ImportTarget<NonNullable<UserParts['factor']>> | undefined
  bans: ImportTarget<NonNullable<UserParts['ban']>> | undefined
  userNames: ImportTarget<{ userId: string; name: string }> | undefined
  phones: ImportTarget<{ userId: string; number: string }> | undefined
  organizations: ImportTarget<OrganizationTaken> | undefined
  members: ImportTarget<MemberTaken> | undefined
}

/** Looks, and with `apply` writes where no problem is open. */
export function runImport(ctx: AnyContext, input: RunInput): Promise<ImportReport> {
  return input.apply ? lockRun(ctx, input.source, () => lookAndWrite(ctx, input)) : lookAndWrite(ctx, input)
}

async function lookAndWrite(ctx: AnyContext, input: RunInput): Promise<ImportReport> {
  const all = input.accept.includes('all')
  // Where nothing can stop it, the export is read once.
  if (!input.apply || !all) {
    const { kinds, problems } = await passOver(ctx, { ...input, apply: false }, 'look')
    const refused = all ? [] : listOpen(problems, input.accept)
    const before = await countRecords(ctx, kinds, false)
    if (!input.apply || refused.length > 0) return { source: input.source, kinds, problems, refused, before, after: before, applied: false }
  }
  const before = await countRecords(ctx, recordOf, true)
  const { kinds, problems } = await passOver(ctx, input, 'write')
  const after = await countRecords(ctx, kinds, true)
  problems.push(...compareCounts(kinds, before, after))
  const own = Object.fromEntries(Object.keys(after).map((kind) => [kind, before[kind] ?? 0]))
  return { source: input.source, kinds, problems, refused: [], before: own, after, applied: true }
}

interface Pass {
  kinds: Record<string, KindReport>
  problems: ImportProblem[]
}

async function passOver(ctx: AnyContext, input: RunInput, stage: 'look' | 'write'): Promise<Pass> {
  const problems = createProblems()
  const pass = createPass(ctx, input, problems, await hasNoUsers(ctx, input.apply))
  const lane = createLane(pagesAtOnce)
  let page: ImportedRow[] = []
  let count = 0
  const flush = async (): Promise<void> => {
    const rows = page
    page = []
    const ids = rows.flatMap((row) => (row.kind === 'user' ? [row.id] : []))
    // Hashes, organizations and members belong to users who were read before.
    if (ids.length < rows.length) await lane.finish()
    await lane.start(ids, async () => {
      await pass.importPage(rows)
      count += rows.length
      input.onProgress?.(count, stage)
    })
    if (ids.length < rows.length) await lane.finish()
  }
  for await (const row of input.rows(problems)) {
    page.push(row)
    if (page.length === pageSize) await flush()
  }
  await flush()
  await lane.finish()
  const { kinds } = pass
  return { kinds, problems: [...problems.list(), ...Object.entries(kinds).flatMap(([kind, report]) => problemsOf(kind, report))] }
}

function createPass(ctx: AnyContext, input: RunInput, problems: Problems, isEmpty: boolean) {
  const { source, able, targets, apply, conflicts } = input
  const run: ImportRun = { apply, conflicts }
  const kinds: Record<string, KindReport> = {}
  const beginnings = new Map<string, Promise<Beginning>>()
  const owners = new Map<string, string>()
  // Of this run: users whose parts are taken, those with a hash, and those whose hash has not come yet.
  const [accepted, hashed, waiting] = [new Set<string>(), new Set<string>(), new Set<string>()]
  // Of this run: users who proved an address here that the source has not verified.
  const withheld = new Set<string>()
  // Organizations of this run.
  const joinable = new Set<string>()

  async function importRows<T>(
    kind: string,
    target: ImportTarget<T> | undefined,
    rows: readonly { key: string; value: T; userId: string | null; compare?: unknown }[],
  ): Promise<void> {
    if (!target || rows.length === 0) return
    if (!beginnings.has(kind)) beginnings.set(kind, findBeginning(ctx, { source, kind, target }, apply))
    const found = await importPages(ctx, { source, kind, target }, [rows], run, await beginnings.get(kind))
    addReport((kinds[kind] ??= newKindReport()), found)
  }

  /** A hash may come before or after the row that says that there is one. */
  function withKnownHash({ lostPassword, ...user }: ImportedUser): ImportedUser {
    if (typeof user.hash === 'string') noteHash(user.id)
    if (lostPassword !== 'not-exported') return lostPassword === undefined ? user : { ...user, lostPassword }
    if (hashed.has(user.id)) return user
    waiting.add(user.id)
    return { ...user, lostPassword }
  }

  function noteHash(id: string): void {
    hashed.add(id)
    if (waiting.delete(id)) problems.drop(able.asks ? 'passwords-by-hook' : 'passwords-not-exported', id)
  }

  async function importUsers(given: readonly ImportedUser[]): Promise<void> {
    const all = given.map((user) => splitUser(ctx, source, withKnownHash(user), able, problems))
    // A user who is in several files has the profile of the first one.
    const first = [...new Map(all.filter(({ id }) => !accepted.has(id)).map((parts) => [parts.id, parts])).values()]
    const users = createUserTarget(owners, isEmpty)
    await importRows('users', users, first.map(toUserRow))
    const made = users.listMade()
    for (const id of await findTaken(ctx, source, first, made, apply, users)) accepted.add(id)
    const known = all.filter(({ id }) => accepted.has(id))
    for (const id of await findWithheld(ctx, known, made, apply)) {
      if (!withheld.has(id)) problems.note('proved-here', id)
      withheld.add(id)
    }
    const parts = known.map((one) => (withheld.has(one.id) ? withoutCredentials(one) : one))
    const later = new Set(parts.filter(isGuarded).map(({ id }) => id))
    const owned = parts.flatMap((one) => one.accounts.map((account) => ({ key: accountKey(account), value: account, userId: one.id })))
    const names = pick(parts, ({ id, userName }) => (userName === undefined ? undefined : { userId: id, name: userName }))
    const phones = pick(parts, ({ id, phone }) => (phone === undefined ? undefined : { userId: id, number: phone }))
    const changes = pick(parts, (one) => one.fields)
    // First what keeps a user out, then what lets a user in: the app may be running.
    await Promise.all([
      takeBans(parts),
      importRows(
        'factors',
        targets.factors,
        pick(parts, ({ factor }) => factor),
      ),
      importRows('user-names', targets.userNames, names),
      importRows(
        'fields',
        createFieldTarget((id) => made.has(id)),
        changes,
      ),
    ])
    const isStored = (id: string): boolean => made.has(id) && !later.has(id)
    await Promise.all([
      importRows('accounts', createAccountTarget(isStored, isEmpty), unique(owned)),
      importRows(
        'passwords',
        targets.passwords,
        pick(parts, ({ password }) => password),
      ),
      importRows('phones', targets.phones, phones),
    ])
  }

  async function takeBans(parts: readonly UserParts[]): Promise<void> {
    const { bans } = targets
    if (!bans) return
    await importRows(
      'bans',
      bans,
      pick(parts, ({ ban }) => ban ?? undefined),
    )
    const free = parts.filter(({ ban }) => ban === null).map(({ id }) => id)
    const removed = await removeMissing(ctx, { source, kind: 'bans', target: bans }, free, run)
    if (removed.removed + removed.kept + removed.conflict > 0) addReport((kinds['bans'] ??= newKindReport()), removed)
  }

  /** Hashes that come in a file of their own. */
  async function importPasswords(given: readonly ImportedPassword[]): Promise<void> {
    const unknown = given.filter(({ user }) => !accepted.has(user)).map(({ user }) => user)
    const entries = apply || unknown.length > 0 ? await tryEntries(ctx, source, 'users', unknown, apply) : []
    const known = new Set(unknown.filter((_, at) => entries[at]?.version))
    const rows = given.filter(({ user }) => {
      const there = accepted.has(user) || known.has(user)
      if (!there) problems.note('orphan-passwords', user)
      return there
    })
    for (const { user, hash, lostPassword } of rows) {
      noteHash(user)
      notePassword({ id: user, ...(hash !== undefined && { hash }), ...(lostPassword !== undefined && { lostPassword }) }, able, problems)
    }
    const hashes = rows.flatMap(({ user, hash, verified }) =>
      typeof hash === 'string' && !withheld.has(user)
        ? [{ key: user, value: { userId: user, hash, ...(verified !== undefined && { verified }) }, userId: user }]
        : [],
    )
    await importRows('passwords', targets.passwords, unique(hashes))
  }

  async function importOrganizations(given: readonly ImportedOrganization[]): Promise<void> {
    if (!targets.organizations) return given.forEach(({ id }) => problems.note('organizations', id))
    const rows = unique(toOrganizations(ctx, given, problems))
    for (const { key } of rows) joinable.add(key)
    await importRows('organizations', targets.organizations, rows)
  }

  async function importMembers(given: readonly ImportedMember[]): Promise<void> {
    if (!targets.members) return given.forEach(({ user, organization }) => problems.note('organizations', `${organization} ${user}`))
    // A file of members alone belongs to users and organizations of an earlier run.
    const find = async (kind: string, ids: readonly string[], known: ReadonlySet<string>): Promise<Set<string>> => {
      const asked = [...new Set(ids)].filter((id) => !known.has(id))
      const entries = await tryEntries(ctx, source, kind, asked, apply)
      return new Set([...ids.filter((id) => known.has(id)), ...asked.filter((_, at) => entries[at]?.version)])
    }
    const known = {
      users: await find(
        'users',
        given.map(({ user }) => user),
        accepted,
      ),
      organizations: await find(
        'organizations',
        given.map(({ organization }) => organization),
        joinable,
      ),
    }
    await importRows('members', targets.members, unique(toMembers(ctx, given, known, problems)))
  }

  return {
    kinds,
    async importPage(page: readonly ImportedRow[]): Promise<void> {
      const ofKind = <K extends ImportedRow['kind']>(kind: K) =>
        page.filter((row): row is Extract<ImportedRow, { kind: K }> => row.kind === kind)
      const given = ofKind('user')
      if (given.length > 0) await importUsers(given)
      if (ofKind('password').length > 0) await importPasswords(ofKind('password'))
      if (ofKind('organization').length > 0) await importOrganizations(ofKind('organization'))
      if (ofKind('member').length > 0) await importMembers(ofKind('member'))
    },
  }
}

/** The row of a user. A new user is stored together with the accounts, unless something must be stored before these. */
function toUserRow(parts: UserParts): { key: string; value: UserTaken; userId: string; compare: unknown } {
  const { accounts, fields: _fields, ...profile } = parts.user
  return { key: parts.id, value: { ...parts.user, accounts: isGuarded(parts) ? [] : accounts }, userId: parts.id, compare: profile }
}

/** Whether a ban or a factor must be there before the user can sign in. */
function isGuarded({ ban, factor }: UserParts): boolean {
  return Boolean(ban) || factor !== undefined
}

/** What signs up meanwhile is told by the unique keys of the store. */
async function hasNoUsers(ctx: AnyContext, apply: boolean): Promise<boolean> {
  const store = ctx.service('store')
  try {
    return store.supports('listUsers') && (await store.listUsers({ limit: 1 })).length === 0
  } catch (error) {
    // Before the first migration there are no tables.
    if (!apply && error instanceof AdapterError) return true
    throw error
  }
}

/** Users of a page who are here by this source: their parts may be written. */
async function findTaken(
  ctx: AnyContext,
  source: string,
  page: readonly UserParts[],
  made: ReadonlySet<string>,
  apply: boolean,
  users: { isRefused(id: string): boolean },
): Promise<string[]> {
  const ids = page.map(({ id }) => id)
  if (!apply) return ids.filter((id) => !users.isRefused(id))
  const asked = ids.filter((id) => !made.has(id))
  const entries = asked.length === 0 ? [] : await readEntries(ctx, source, 'users', asked)
  return [...made, ...asked.filter((_, at) => entries[at]?.version)]
}

async function tryEntries(ctx: AnyContext, source: string, kind: string, keys: readonly string[], apply: boolean) {
  try {
    return keys.length === 0 ? [] : await readEntries(ctx, source, kind, keys)
  } catch (error) {
    // Before the first migration there are no tables.
    if (apply) throw error
    return []
  }
}

function pick<T>(parts: readonly UserParts[], part: (one: UserParts) => T | undefined): { key: string; value: T; userId: string }[] {
  return unique(
    parts.flatMap((one) => {
      const value = part(one)
      return value === undefined ? [] : [{ key: one.id, value, userId: one.id }]
    }),
  )
}

/** The last row of each key counts. */
function unique<T extends { key: string }>(rows: readonly T[]): T[] {
  return [...new Map(rows.map((row) => [row.key, row])).values()]
}

function addReport(into: KindReport, { conflicts, refusals, ...counts }: KindReport): void {
  for (const [name, count] of Object.entries(counts)) into[name as keyof typeof counts] += count
  into.conflicts.push(...conflicts.slice(0, 100 - into.conflicts.length))
  for (const [reason, { count, keys }] of Object.entries(refusals)) {
    const known = (into.refusals[reason] ??= { count: 0, keys: [] })
    known.count += count
    known.keys.push(...keys.slice(0, 10 - known.keys.length))
  }
}

// Kinds that are records here; users and accounts are in the store, which counts none.
const recordOf = { passwords: 'password', 'user-names': 'userName', bans: 'userBan' } as const

async function countRecords(ctx: AnyContext, kinds: Readonly<Record<string, unknown>>, apply: boolean): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const [kind, record] of Object.entries(recordOf)) {
    if (!(kind in kinds) || !ctx.app.services.records) continue
    try {
      counts[kind] = await ctx.records(record).count({}, { max: Number.MAX_SAFE_INTEGER })
    } catch (error) {
      // A plugin that is not used has no record, and before the first migration there are no tables.
      if (apply && error instanceof AdapterError) throw error
    }
  }
  return counts
}

/** Rows that were stored must be there: sign-ups and bans of the time in between are more, never less. */
function compareCounts(
  kinds: Readonly<Record<string, KindReport>>,
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
): ImportProblem[] {
  return Object.entries(after).flatMap(([kind, count]) => {
    const { new: fresh, removed } = kinds[kind] ?? newKindReport()
    const missing = (before[kind] ?? 0) + fresh - removed - count
    if (missing <= 0) return []
    const message = `${missing} ${kind} that were stored are not there. Something else deletes rows: run the import again.`
    return [{ name: `${kind}-counts`, level: 'loss' as const, count: missing, message }]
  })
}
