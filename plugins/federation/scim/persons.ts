/** The stored user behind a resource: found by address within the proved domains of the organization, or created. */
import { type AdapterUser, HttpError, toAddress, type User } from 'authkernel/kernel'
import { endAccess, takeAddressFrom } from 'authkernel/kernel/users'
import { ScimError } from './errors.ts'
import type { ScimResource } from './resource.ts'
import type { Connection } from './caller.ts'

/** What a resource says about the stored user. */
export interface Profile {
  email: string
  name: string | null
}

/** Email and name of a resource. Throws ScimError 400 for a resource without an email. */
export function readProfile(resource: ScimResource): Profile {
  const email = findEmail(resource)
  if (email === undefined) throw new ScimError(400, 'The user needs an email: in "emails", or as "userName".', 'invalidValue')
  return { email, name: readName(resource) }
}

/** The email that counts: the primary one, else the one of type work, else the first, else `userName`. Undefined: none of them is an address. */
export function findEmail(resource: ScimResource): string | undefined {
  const emails = (resource['emails'] as ScimResource[] | undefined) ?? []
  const chosen = emails.find((one) => one['primary'] === true) ?? emails.find((one) => one['type'] === 'work') ?? emails[0]
  return toAddress(chosen?.['value'] ?? resource['userName'])
}

/**
 * The user for a new resource, and whether it was created now. An existing user is taken only by an address of a domain that the organization has proved.
 * Addresses of other domains are rejected in the same words whether such a user exists or not. An unverified user loses the address: it may be an attacker's.
 */
export async function findOrCreateUser(caller: Connection, resource: ScimResource): Promise<{ user: AdapterUser; isNew: boolean }> {
  const { ctx } = caller
  const { email, name } = readProfile(resource)
  await assertOwnDomain(caller, email)
  const isFree = await takeAddressFrom(ctx, email, '')
  if (isFree) {
    const user = { ...toFields(caller, resource), email, emailVerified: ctx.now, name, image: null }
    return { user: await refuseTaken(() => ctx.users.create(user)), isNew: true }
  }
  const user = await ctx.service('store').getUserByEmail(email)
  if (!user) throw busyUser()
  return { user, isNew: false }
}

/** Brings the stored user up to the resource. Throws ScimError 409 for an email that another user has verified. */
export async function updateStoredUser(caller: Connection, userId: string, resource: ScimResource): Promise<void> {
  const { ctx } = caller
  const user = await ctx.service('store').getUser(userId)
  if (!user || !(await mayChange(caller, user))) return
  const { email, name } = readProfile(resource)
  const fields = { ...toFields(caller, resource), ...(name !== null && name !== user.name && { name }) }
  if (email === user.email) {
    if (Object.keys(fields).length > 0) await ctx.users.update({ id: userId, ...fields })
    return
  }
  await assertOwnDomain(caller, email)
  // An address of another domain is the user's own: the directory does not replace it.
  if (user.email && !(await isOwnDomain(caller, user.email))) {
    if (Object.keys(fields).length > 0) await ctx.users.update({ id: userId, ...fields })
    return
  }
  if (!(await takeAddressFrom(ctx, email, userId))) throw new ScimError(409, 'Another user has this email.', 'uniqueness')
  // What the former address opened ends before the new one counts, and once more for what began in between.
  await endAccess(ctx, { userId }, 'scim', 'credentialChanged')
  const stored = await refuseTaken(() => ctx.users.update({ id: userId, ...fields, email, emailVerified: ctx.now }))
  await ctx.emit('credentialChanged', { user: stored, kind: 'address', action: 'changed' })
  await endAccess(ctx, { userId }, 'scim', 'credentialChanged')
}

/** Who left the organization, and has an address of another domain, is no business of the directory. */
export async function mayChange(caller: Connection, { id, email }: User): Promise<boolean> {
  const { ctx, directory } = caller
  if (email && (await isOwnDomain(caller, email))) return true
  return (await ctx.service('organizations').findMember(ctx, { organizationId: directory.organizationId, userId: id ?? '' })) !== null
}

async function assertOwnDomain(caller: Connection, email: string): Promise<void> {
  if (await isOwnDomain(caller, email)) return
  throw new ScimError(
    400,
    `The organization has not proved the domain ${email.split('@')[1]}. Prove it, then send the user again.`,
    'invalidValue',
  )
}

/** Whether the organization of the directory has proved the domain of the address. */
export async function isOwnDomain({ ctx, directory }: Connection, email: string): Promise<boolean> {
  return (await ctx.service('organizations').ownsDomain(ctx, email)) === directory.organizationId
}

// Another request, such as a sign-up, got the address in between.
async function refuseTaken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof HttpError && error.status === 409) throw busyUser()
    throw error
  }
}

function busyUser(): ScimError {
  return new ScimError(409, 'Another request changes this user. Try again.', 'uniqueness')
}

// The host app chooses further fields. The id and what proves the address are not among them.
function toFields({ ctx, options }: Connection, resource: ScimResource): Record<string, unknown> {
  const { id: _id, email: _email, emailVerified: _verified, ...fields } = { ...options.toUser?.(resource, ctx) }
  return fields
}

function readName({ displayName, name }: ScimResource): string | null {
  if (typeof displayName === 'string' && displayName !== '') return displayName.slice(0, 200)
  const { formatted, givenName, familyName } = Object(name) as Record<string, string | undefined>
  return (formatted || [givenName, familyName].filter(Boolean).join(' ') || '').slice(0, 200) || null
}
