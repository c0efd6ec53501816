/** Creates, lists, rotates and revokes keys. */
import { type AnyContext, AuthError, HttpError, type Row, sha256, type StampOfAccess, toHex } from 'authkernel/kernel'
import { hasTypedAddress } from 'authkernel/kernel/users'
import { makeKey } from './format.ts'
import { isEnv, isLimit, type KeyLimit, type ResolvedOptions } from './options.ts'
import { type ApiKey, type ApiKeyRow, type KeyOwner, keyOwnerOf, never, ownerFields, ownerQuery, toApiKey } from './tables.ts'

/** What a new key is made from. */
export interface NewApiKey {
  /** For users: 1 to 100 characters. */
  name: string
  scopes?: readonly string[] | undefined
  /** Seconds until it expires; default: `maxAge` of the plugin, else never. */
  expiresIn?: number | undefined
  env?: string | undefined
  limit?: KeyLimit | undefined
  /** Id of an organization of the owner: the key is for it alone, and ends when the owner leaves it. Needs organizationsPlugin. */
  organization?: string | undefined
}
/** A key with its text, which is shown once and never stored. */
export type CreatedApiKey = ApiKey & { key: string }

/** Throws HttpError 400 for what no key may have, 403 for an owner whose address was only typed, 409 when the owner has `max` live keys. */
export async function createKey(ctx: AnyContext, options: ResolvedOptions, owner: KeyOwner, wanted: NewApiKey): Promise<CreatedApiKey> {
  const { name, scopes = [], env = options.env, limit = options.limit } = wanted
  if (typeof name !== 'string' || name.trim() === '' || name.length > 100) throw keyInputError('`name` must be 1 to 100 characters.')
  if (!isEnv(env)) throw keyInputError('`env` must be 1 to 16 characters of a-z and 0-9.')
  if (limit && !isLimit(limit)) throw keyInputError('`limit` must have `max` and `seconds`, whole numbers of at least 1.')
  for (const scope of scopes) {
    const known = options.scopes
      ? options.scopes.includes(scope)
      : typeof scope === 'string' && /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(scope)
    if (!known) throw keyInputError(`the scope ${JSON.stringify(String(scope).slice(0, 100))} is not one of the plugin's.`)
  }
  // A proof of the address moves the user to its holder: an older key would stay with the attacker who only typed the address.
  if ('userId' in owner && (await hasTypedAddress(ctx, owner.userId)))
    throw new HttpError(403, 'The email of the owner is not verified: verify it by a link in a mail, then create keys.')
  // Before the membership is read: one that ends meanwhile leaves no key.
  const stamp = await stampOwner(ctx, owner, wanted.organization)
  await assertMember(ctx, owner, wanted.organization)
  if (await isFull(ctx, owner, options.max)) throw tooManyKeys(options)
  const { row, text } = await draftKey(ctx, options, {
    family: '',
    name: name.trim(),
    env,
    scopes: [...new Set(scopes)],
    ...ownerFields(owner),
    organization: wanted.organization ?? null,
    expires: expiryOf(ctx, options, wanted.expiresIn),
    max: limit?.max ?? null,
    seconds: limit?.seconds ?? null,
  })
  const key = toApiKey(row, options.prefix)
  for (const scope of key.scopes) {
    if (options.can && !(await options.can({ key, scope, ctx })))
      throw new HttpError(403, `The owner does not have the right "${scope}", so a key cannot have it.`)
  }
  const keys = ctx.records('apiKey')
  await writeGranted(ctx, stamp, () => keys.create(row), [row.id])
  // Written first, then counted: keys that are made at the same moment cannot exceed the limit together.
  if (await isFull(ctx, owner, options.max + 1)) {
    await ctx.records('apiKey').delete(row.id)
    throw tooManyKeys(options)
  }
  await emitChange(ctx, owner, row.id, 'added')
  return { ...key, key: text }
}

/** Newest first. */
export async function listKeys(ctx: AnyContext, options: ResolvedOptions, owner: KeyOwner): Promise<ApiKey[]> {
  const { rows } = await ctx.records('apiKey').find({ where: ownerQuery(owner), order: 'desc', limit: 1000 })
  return rows.map((row) => toApiKey(row, options.prefix))
}

/** The next key of the same rights; the old one lives on for `overlap` seconds. Null: the owner has no such key, or it was rotated before. */
export async function rotateKey(ctx: AnyContext, options: ResolvedOptions, owner: KeyOwner, id: string): Promise<CreatedApiKey | null> {
  const keys = ctx.records('apiKey')
  const row = await findOwnedKey(ctx, owner, id)
  if (!row || row.rotated) return null
  const end = new Date(Math.min(ctx.now.getTime() + options.overlap * 1000, row.expires.getTime()))
  const next = await draftKey(ctx, options, { ...copyKeyRow(row), expires: row.expires })
  // At most two are live: one from the rotation before ends now.
  const { rows } = await keys.find({ where: { family: row.family } })
  const former = rows.filter((other) => other.id !== id && other.rotated)
  // Of two rotations at the same moment one makes the next key, and a process that dies leaves the new state or the old one.
  const rotate = (): Promise<readonly unknown[] | false> =>
    ctx.atomic([
      { record: 'apiKey', update: id, change: { rotated: true, expires: end }, if: { rotated: false } },
      { record: 'apiKey', create: next.row },
      ...former.map((other) => ({ record: 'apiKey' as const, update: other.id, change: { expires: ctx.now } })),
    ])
  if (!(await writeGranted(ctx, await stampOwner(ctx, owner, row.organization), rotate, [next.row.id, id]))) return null
  await emitChange(ctx, owner, next.row.id, 'changed')
  return { ...toApiKey(next.row, options.prefix), key: next.text }
}

/** The key is rejected from now on. False: the owner has no such key. */
export async function revokeKey(ctx: AnyContext, owner: KeyOwner, id: string): Promise<boolean> {
  if (!(await findOwnedKey(ctx, owner, id)) || !(await ctx.records('apiKey').delete(id))) return false
  await emitChange(ctx, owner, id, 'removed')
  return true
}

/** The same for a key of any owner: for administrators. */
export async function revokeAnyKey(ctx: AnyContext, id: string): Promise<boolean> {
  const row = await ctx.records('apiKey').take(id)
  if (!row) return false
  await emitChange(ctx, keyOwnerOf(row), id, 'removed')
  return true
}

/** What a body of a client asks for. Its values are checked by `createKey`. */
export function parseNewKey({ name, scopes, expiresIn, env, organization }: Record<string, unknown>): NewApiKey {
  return {
    name: name as string,
    scopes: Array.isArray(scopes) ? scopes.map(String) : [],
    ...(typeof expiresIn === 'number' && { expiresIn }),
    ...(typeof env === 'string' && { env }),
    ...(typeof organization === 'string' && { organization }),
  }
}

/** What is stored of a secret: it has 190 random bits, so that a fast hash is enough. */
export async function hashKeySecret(secret: string): Promise<string> {
  return toHex(await sha256(secret))
}

type NewRow = Omit<ApiKeyRow, 'hash' | 'tail' | 'created' | 'used' | 'rotated'>

/** A row to create, and the text of its key. */
async function draftKey(ctx: AnyContext, { prefix }: ResolvedOptions, row: NewRow): Promise<{ row: Row<ApiKeyRow>; text: string }> {
  const { id, secret, text } = makeKey(ctx.runtime, prefix, row.env)
  const facts = { hash: await hashKeySecret(secret), tail: text.slice(-4), created: ctx.now, used: null, rotated: false }
  return { text, row: { ...row, ...facts, id, family: row.family || id } }
}

/** Makes keys of a user whose access holds. When it ended meanwhile, `ids` are deleted and AccessEnded is thrown. */
async function writeGranted<T>(ctx: AnyContext, stamp: StampOfAccess | null, write: () => Promise<T>, ids: readonly string[]): Promise<T> {
  if (!stamp) return write()
  return ctx.access.grant(stamp, 'apiKey', write, async () => {
    for (const id of ids) await ctx.records('apiKey').delete(id)
  })
}

/** Null: the key acts for no user. A key for an organization also rests on the membership in it. */
async function stampOwner(ctx: AnyContext, owner: KeyOwner, organization: string | null | undefined): Promise<StampOfAccess | null> {
  if (!('userId' in owner)) return null
  const ofSession = ctx.request ? await ctx.access.stampSession() : null
  const stamp = ofSession?.subject === `user:${owner.userId}` ? ofSession : await ctx.access.stamp(`user:${owner.userId}`)
  return typeof organization === 'string' ? ctx.access.stampMember(stamp, organization) : stamp
}

async function findOwnedKey(ctx: AnyContext, owner: KeyOwner, id: string): Promise<Row<ApiKeyRow> | null> {
  const row = typeof id === 'string' ? await ctx.records('apiKey').get(id) : null
  const fields = ownerFields(owner)
  return row && row.userId === fields.userId && row.owner === fields.owner ? row : null
}

async function assertMember(ctx: AnyContext, owner: KeyOwner, organization: string | undefined): Promise<void> {
  if (organization === undefined) return
  if (typeof organization !== 'string' || !('userId' in owner))
    throw keyInputError('`organization` is the id of an organization of a user.')
  const seat = await ctx.ask('keyOrganization', { organizationId: organization, userId: owner.userId })
  if (seat === undefined) throw keyInputError('`organization` needs organizationsPlugin.')
  if (seat === null) throw new HttpError(403, 'The owner is no member of this organization.')
}

async function isFull(ctx: AnyContext, owner: KeyOwner, max: number): Promise<boolean> {
  return (await ctx.records('apiKey').count(ownerQuery(owner), { max })) >= max
}

function tooManyKeys({ max }: ResolvedOptions): HttpError {
  return new HttpError(409, `There are ${max} keys already. Revoke one first.`)
}

function copyKeyRow({ family, name, env, scopes, userId, owner, organization, max, seconds }: ApiKeyRow): Omit<NewRow, 'expires'> {
  return { family, name, env, scopes, userId, owner, organization, max, seconds }
}

function expiryOf(ctx: AnyContext, { maxAge }: ResolvedOptions, expiresIn: number | undefined): Date {
  const seconds = expiresIn ?? maxAge
  if (seconds === undefined) return never
  if (!Number.isFinite(seconds) || seconds <= 0) throw keyInputError('`expiresIn` must be a number of seconds above 0.')
  if (maxAge !== undefined && seconds > maxAge) throw keyInputError(`\`expiresIn\` must be at most ${maxAge} seconds.`)
  return new Date(Math.min(ctx.now.getTime() + seconds * 1000, never.getTime() - 1))
}

async function emitChange(ctx: AnyContext, owner: KeyOwner, id: string, action: 'added' | 'changed' | 'removed'): Promise<void> {
  await ctx.emit('credentialChanged', { user: 'userId' in owner ? { id: owner.userId } : null, kind: 'apiKey', action, id })
}

function keyInputError(what: string): HttpError {
  return new HttpError(400, `API key: ${what}`, {}, new AuthError(`API key: ${what}`))
}
