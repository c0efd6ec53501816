/** Rotation of refresh tokens (RFC 9700 section 4.14.2), for every table whose rows are families of them. */
import { type AnyContext, equal, type TokenAnswer } from 'authkernel/kernel'
import { hashRefreshToken, isMarked, nextRefreshTexts, parseRefresh, type RefreshText } from './tokens.ts'

/** Milliseconds within which a lost answer may be repeated, and two tabs may refresh at once. */
const grace = 10_000
const maxTries = 20

/** What a row has that is the family of refresh tokens. */
export interface FamilyRow {
  id: string
  clientId: string
  /** Of the refresh token that counts; compared when it is raised. */
  generation: number
  /** SHA-256 of that refresh token. */
  hash: string
  /** Thumbprint of the key that the tokens are bound to; null: they are bearer tokens. */
  jkt: string | null
  /** Thumbprint of the certificate that they are bound to; absent: families of this kind have none. */
  x5t?: string | null
  /** When the generation was raised. */
  rotated: Date
  /** The absolute end. */
  ends: Date
  expires: Date
}
/** Where families are kept. */
interface FamilyTable<T extends FamilyRow> {
  get(id: string): Promise<T | null>
  update(id: string, change: Partial<FamilyRow>, options: { if: Partial<FamilyRow> }): Promise<T | null>
  take(id: string): Promise<T | null>
}
/** A kind of families: apps of bearerPlugin, or clients of authorizationServerPlugin. */
export interface FamilyKind<T extends FamilyRow> {
  readonly table: FamilyTable<T>
  /** Seconds that a family lives without a refresh. */
  readonly idle: number
  /** What is written with the next generation. */
  readonly also?: Partial<FamilyRow>
  /** Runs once for a family that ended because a token of it was copied. */
  noteTheft(family: T): Promise<unknown>
}
/** A family with its present refresh token, of which the row has a hash. */
export interface TokenFamily<T extends FamilyRow> {
  session: T
  refresh: string
}
/** Who shows a refresh token: the app, and the key that it proved. */
export interface Holder {
  clientId: string
  jkt: string | null
}

/**
 * The session with the next refresh token; null: the token gives nothing. A token that was used before, or that another app brings, ends the
 * session. Only the former one within ten seconds, from the same key and while its successor is unused, gets that successor.
 * `admit` runs before the token is used up: what it returns is the result, and the token stays as good as it was.
 */
export async function rotateRefresh<T extends FamilyRow>(
  ctx: AnyContext,
  kind: FamilyKind<T>,
  holder: Holder,
  text: string,
  admit: (session: T) => Promise<TokenAnswer | undefined>,
): Promise<TokenFamily<T> | { readonly refused: TokenAnswer } | null> {
  const token = parseRefresh(text)
  for (let tries = 0; token && tries < maxTries; tries++) {
    const session = await kind.table.get(token.session)
    if (!session || !(await isTokenOfSession(ctx, session, token, text))) return null
    if (session.clientId !== holder.clientId) return endStolen(kind, session)
    const nexts = await nextRefreshTexts(ctx, token)
    if (token.generation < session.generation) {
      const again = await findRecentSuccessor(ctx, session, nexts, holder)
      if (!again) return endStolen(kind, session)
      const refusal = await admit(session)
      return refusal ? { refused: refusal } : again
    }
    // Without its key the token is worth nothing, and an attacker who copied it cannot end the session either.
    if (session.jkt !== null && session.jkt !== holder.jkt) return null
    const refusal = await admit(session)
    if (refusal) return { refused: refusal }
    const refresh = nexts[0] as string
    const expires = earlierOf(session.ends, new Date(ctx.now.getTime() + kind.idle * 1000))
    const next = {
      generation: session.generation + 1,
      hash: await hashRefreshToken(refresh),
      jkt: holder.jkt,
      rotated: ctx.now,
      expires,
      ...kind.also,
    }
    // Compare-and-set: of several refreshes at the same moment one raises the generation, and the others read again.
    const written = await kind.table.update(session.id, next, { if: { generation: session.generation } })
    if (written) return { session: written, refresh }
  }
  return null
}

/** The session of a refresh token of any age, for its end. Null: none, or of another app. */
export async function sessionOfRefresh<T extends FamilyRow>(
  ctx: AnyContext,
  { table }: Pick<FamilyKind<T>, 'table'>,
  clientId: string,
  text: string,
): Promise<T | null> {
  const token = parseRefresh(text)
  const session = token && (await table.get(token.session))
  return token && session?.clientId === clientId && (await isTokenOfSession(ctx, session, token, text)) ? session : null
}

/** The earlier of two moments. */
export function earlierOf(a: Date, b: Date): Date {
  return a < b ? a : b
}

/** The successor that was answered already, where it may be answered again. */
async function findRecentSuccessor<T extends FamilyRow>(
  ctx: AnyContext,
  session: T,
  nexts: readonly string[],
  { jkt }: Holder,
): Promise<TokenFamily<T> | undefined> {
  if (ctx.now.getTime() - session.rotated.getTime() > grace || session.jkt !== jkt) return undefined
  // That of an older token is not the one that counts.
  for (const refresh of nexts) if (equal(session.hash, await hashRefreshToken(refresh))) return { session, refresh }
  return undefined
}

/** The present token by its hash, an earlier one by its mark. An invented text is none of them. */
async function isTokenOfSession(ctx: AnyContext, session: FamilyRow, token: RefreshText, text: string): Promise<boolean> {
  if (token.generation > session.generation) return false
  return token.generation === session.generation ? equal(session.hash, await hashRefreshToken(text)) : isMarked(ctx, token)
}

async function endStolen<T extends FamilyRow>(kind: FamilyKind<T>, { id }: T): Promise<null> {
  const session = await kind.table.take(id)
  if (session) await kind.noteTheft(session)
  return null
}
