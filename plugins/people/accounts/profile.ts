/** What users change of themselves: name, picture, and the custom fields that the host marks as `editable`. */
import { type AdapterUser, type AdditionalField, type AnyContext, type Context, HttpError, type Store, type User } from 'authkernel/kernel'
import { renewShownUser } from 'authkernel/kernel/strategies'

/** A user as the user sees it. */
export interface Profile extends Pick<User, 'name' | 'email' | 'image'> {
  id: string
  /** Whether the address was proved. */
  emailVerified: boolean
  /** Names of what `update` takes, and the custom fields that sessions show. */
  editable: readonly string[]
  /** Custom fields that are editable or that sessions show. */
  [field: string]: unknown
}
/** What is wrong with one field. */
export interface ProfileIssue {
  message: string
  path: [field: string]
}

type Check = (value: unknown) => string | undefined
// A name stands in mails and on pages; a picture is loaded by browsers.
const longestName = 200
const longestUrl = 2048
const longestText = 10_000

/** Never more than what sessions show and what users may change: a host may keep notes about users in the same table. */
export function toProfile(store: Pick<Store, 'shownFields' | 'editableFields'>, user: AdapterUser): Profile {
  const { id, name = null, email = null, image = null, emailVerified } = user
  const own = [...new Set([...store.shownFields, ...Object.keys(store.editableFields)])]
  // `User` has no index, since own fields are typed by the host; they are columns all the same.
  const fields = own.map((field) => [field, (user as unknown as Record<string, unknown>)[field] ?? null])
  return { ...Object.fromEntries(fields), id, name, email, image, emailVerified: emailVerified !== null, editable: editableNames(store) }
}

/** What is wrong with a change; empty: nothing. A field that is not editable is rejected, so that a misspelt one is not lost without a word. */
export function checkChange(store: Pick<Store, 'editableFields'>, change: Readonly<Record<string, unknown>>): ProfileIssue[] {
  const checks: Readonly<Record<string, Check>> = {
    name: checkName,
    image: checkImage,
    ...Object.fromEntries(Object.entries(store.editableFields).map(([field, spec]) => [field, checkOf(spec)])),
  }
  return Object.entries(change).flatMap(([field, value]) => {
    const check = Object.hasOwn(checks, field) ? checks[field] : undefined
    const message = check ? (value === null ? undefined : check(value)) : `is not editable. Editable: ${editableNames(store).join(', ')}.`
    return message === undefined ? [] : [{ message: `"${field}" ${message}`, path: [field] as [string] }]
  })
}

/** Stores a change that was checked, and renews what the session of a request shows. Null: the user is gone. Throws HttpError 400 for a wrong change. */
export async function changeProfile(ctx: AnyContext, userId: string, change: Readonly<Record<string, unknown>>): Promise<Profile | null> {
  const store = ctx.service('store')
  const [issue] = checkChange(store, change)
  if (issue) throw new HttpError(400, `profile.update: ${issue.message}`)
  if (!(await store.getUser(userId))) return null
  const { name, ...fields } = change
  const user = await store.updateUser({
    id: userId,
    ...fields,
    ...(name !== undefined && { name: typeof name === 'string' ? name.trim() : null }),
  })
  await ctx.emit('updateUser', { user })
  if (ctx.request) await renewShownUser(ctx as Context)
  return toProfile(store, (await store.getUser(userId)) ?? user)
}

function editableNames({ editableFields }: Pick<Store, 'editableFields'>): string[] {
  return ['name', 'image', ...Object.keys(editableFields)]
}

function checkName(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return 'must be a text, or null.'
  if (value.length > longestName) return `must have at most ${longestName} characters.`
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(value) ? 'must not have control characters.' : undefined
}

function checkImage(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > longestUrl || !/^https?:\/\//i.test(value) || !URL.canParse(value))
    return `must be an http or https address of at most ${longestUrl} characters, or null.`
  return undefined
}

function checkOf({ type }: AdditionalField): Check {
  if (type === 'number') return (value) => (Number.isFinite(value) ? undefined : 'must be a number, or null.')
  if (type === 'boolean') return (value) => (typeof value === 'boolean' ? undefined : 'must be true, false or null.')
  const most = type === 'string' ? 255 : longestText
  return (value) =>
    typeof value === 'string' && value.length <= most ? undefined : `must be a text of at most ${most} characters, or null.`
}
