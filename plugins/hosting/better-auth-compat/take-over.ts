/** What cannot be read where it is: passwords and second factors, copied into the records of the plugins that check them. */
import { AdapterError, type AnyContext, bytes, type FactorTaken, type Takeover } from 'authkernel/kernel'

/** Any Kysely instance. */
export interface BetterAuthDatabase {
  readonly schema: object
  readonly introspection: object
  selectFrom: unknown
}
/** Names of tables; each defaults to its own. */
export interface BetterAuthTables {
  user?: string
  account?: string
  session?: string
  twoFactor?: string
}
/** What was found, and what was, or would be, stored. */
export interface BetterAuthReport {
  users: number
  sessions: number
  passwords: { found: number; taken: number }
  factors: { found: number; taken: number }
  /** What the operator must look at. */
  notes: readonly string[]
  applied: boolean
}
interface Services {
  passwords: Takeover<{ userId: string; hash: string }> | undefined
  factors: Takeover<FactorTaken> | undefined
}
type Row = Record<string, unknown>
/** As much of Kysely as is used here. */
interface Reader {
  withoutPlugins(): Reader
  introspection: { getTables(): Promise<readonly { name: string }[]> }
  selectFrom(table: string): Query
}
interface Query {
  select(expression: (builder: { fn: { countAll(): { as(name: string): unknown } } }) => unknown): Query
  selectAll(): Query
  where(column: string, operator: string, value: unknown): Query
  orderBy(column: string): Query
  limit(rows: number): Query
  execute(): Promise<Row[]>
}

const pageSize = 500

/** Reads everything in pages; writes only with `apply`. */
export async function takeOver(
  ctx: AnyContext,
  database: BetterAuthDatabase,
  names: BetterAuthTables,
  secrets: readonly string[],
  { passwords, factors }: Services,
  apply: boolean,
): Promise<BetterAuthReport> {
  const db = (database as unknown as Reader).withoutPlugins()
  const { user = 'user', account = 'account', session = 'session', twoFactor = 'twoFactor' } = names
  const there = new Set((await db.introspection.getTables()).map(({ name }) => name))
  const notes = [user, account, session].filter((name) => !there.has(name)).map((name) => `There is no table ${name}.`)
  if (notes.length > 0)
    return { users: 0, sessions: 0, passwords: { found: 0, taken: 0 }, factors: { found: 0, taken: 0 }, notes, applied: false }
  const dry = !apply
  const report = { passwords: { found: 0, taken: 0 }, factors: { found: 0, taken: 0 } }

  for await (const rows of readPages(db, account)) {
    const hashes = rows
      .filter(({ providerId, password }) => providerId === 'credential' && typeof password === 'string' && password !== '')
      .map(({ userId, password }) => ({ userId: String(userId), hash: String(password) }))
    report.passwords.found += hashes.length
    if (passwords) report.passwords.taken += await takeRows(passwords, ctx, hashes, dry)
  }
  if (report.passwords.found > 0 && !passwords)
    notes.push(`${report.passwords.found} passwords stay behind: use passwordsPlugin({ verify: [betterAuthHash()] }).`)

  const required = there.has(twoFactor) ? await listFactorUsers(db, user) : new Set<string>()
  for await (const rows of required.size > 0 ? readPages(db, twoFactor) : []) {
    const taken: FactorTaken[] = []
    for (const row of rows.filter(({ userId, verified }) => required.has(String(userId)) && isTrue(verified ?? true))) {
      report.factors.found++
      const factor = await factorOf(row, secrets)
      if (typeof factor === 'string') notes.push(factor)
      else taken.push(factor)
    }
    if (factors) report.factors.taken += await takeRows(factors, ctx, taken, dry)
  }
  if (report.factors.found > 0 && !factors)
    notes.push(`${report.factors.found} people would sign in without their second factor: use twoFactorPlugin().`)
  return { users: await countRows(db, user), sessions: await countRows(db, session), ...report, notes, applied: apply }
}

/** Before the first migration there are no tables of records, so all rows count as new. */
async function takeRows<T>(takeover: Takeover<T>, ctx: AnyContext, rows: readonly T[], dry: boolean): Promise<number> {
  try {
    return await takeover.take(ctx, rows, { dry })
  } catch (error) {
    if (dry && error instanceof AdapterError) return rows.length
    throw error
  }
}

/** A row of the table twoFactor, or why it cannot be taken. */
async function factorOf({ userId, secret, backupCodes }: Row, secrets: readonly string[]): Promise<FactorTaken | string> {
  const { decryptText } = await import('./xchacha.ts')
  const text = decryptText(String(secret), secrets)
  if (text === undefined)
    return `The second factor of user ${String(userId)} cannot be decrypted: give the secret of better-auth as \`secret\`.`
  const codes = parseCodes(decryptText(String(backupCodes), secrets)) ?? parseCodes(String(backupCodes))
  return { userId: String(userId), secret: encodeBase32(bytes(text)), backupCodes: codes ?? [] }
}

function parseCodes(json: string | undefined): string[] | undefined {
  try {
    const codes: unknown = JSON.parse(json ?? '')
    return Array.isArray(codes) && codes.every((code) => typeof code === 'string') ? codes : undefined
  } catch {
    return undefined
  }
}

async function listFactorUsers(db: Reader, user: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for await (const rows of readPages(db, user))
    for (const { id, twoFactorEnabled } of rows) if (isTrue(twoFactorEnabled)) ids.add(String(id))
  return ids
}

async function* readPages(db: Reader, table: string): AsyncGenerator<Row[]> {
  let last: unknown
  for (;;) {
    const query = db.selectFrom(table).selectAll().orderBy('id').limit(pageSize)
    const rows = await (last === undefined ? query : query.where('id', '>', last)).execute()
    if (rows.length > 0) yield rows
    if (rows.length < pageSize) return
    last = rows.at(-1)!['id']
  }
}

async function countRows(db: Reader, table: string): Promise<number> {
  const [row] = await db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll().as('n'))
    .execute()
  return Number(row?.['n'] ?? 0)
}

function isTrue(value: unknown): boolean {
  return value === true || value === 't' || Number(value) === 1
}

/** RFC 4648 without padding: better-auth takes the letters of its secret as the key, apps take base32. */
function encodeBase32(data: Uint8Array): string {
  let [bits, held, text] = [0, 0, '']
  for (const byte of data) {
    held = (held << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[(held >>> (bits - 5)) & 31]
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[(held << (5 - bits)) & 31]
}
