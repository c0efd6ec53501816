/** What a connection may say: users of its own domains alone, and members of its own organization. */
import { type AnyContext, type Kernel, type Login, type Profile, type Row, type User } from 'authkernel/kernel'
import { SsoRefused } from './errors.ts'
import { holdEnding } from './followers.ts'
import { mapUser, readEmail } from './mapping.ts'
import { organizationsOf, placeAddress } from './organizations.ts'
import { findConnection } from './provider.ts'
import type { ConnectionRow } from './tables.ts'

/** Checks every sign-in and every link by a connection, and makes members. */
export function addGuard(kernel: Kernel): void {
  kernel.hook('signIn', async ({ user, account, profile, ctx }) => {
    const row = await findConnection(ctx, account.provider)
    // The stored user of the account may have another address than the provider says now: both must be of the connection.
    if (row) {
      await assertAddresses(ctx, row, [user.email, readAddress(row, profile)])
      await markUsed(ctx, row)
    }
    return true
  })
  kernel.hook('link', async ({ user, account, ctx }) => {
    const row = await findConnection(ctx, account.provider)
    if (row) {
      await assertAddresses(ctx, row, [user.email])
      await assertOwnUser(ctx, row, user)
      await markUsed(ctx, row)
    }
    return true
  })
  kernel.hook('login', async ({ login, ctx }) => {
    if (login.purpose !== 'signIn') return undefined
    const row = await findConnection(ctx, login.account.provider)
    if (!row) return undefined
    await assertAddresses(ctx, row, [login.user.email, readAddress(row, login.profile)])
    await assertNotDeparted(ctx, row, login.user)
    if (row.organizationId !== '') await makeMember(ctx, row, login)
    return undefined
  })
}

/** Before an account is written: from then on the identity provider cannot be changed. */
async function markUsed(ctx: AnyContext, row: Row<ConnectionRow>): Promise<void> {
  if (row.used) return
  const { version } = row
  if (await ctx.records('ssoConnection').update(row.id, { used: true }, { if: { version } })) return
  throw new SsoRefused('sso: the connection was changed during the sign-in. Sign in again.')
}

function readAddress(row: ConnectionRow, profile: Profile | undefined): string | null {
  return profile ? readEmail(row, profile) : null
}

/** Throws SsoRefused, with what the company must mend. */
async function assertAddresses(ctx: AnyContext, row: Row<ConnectionRow>, addresses: readonly (string | null | undefined)[]): Promise<void> {
  if (!row.enabled) throw new SsoRefused('sso: the connection is switched off.')
  if (row.organizationId !== '' && !(await organizationsOf(ctx)?.get(ctx, row.organizationId)))
    throw new SsoRefused('sso: the organization of the connection was deleted.')
  const named = addresses.filter((address) => typeof address === 'string' && address !== '')
  if (named.length === 0)
    throw new SsoRefused(
      `sso: the identity provider sent no "${row.mapping.email ?? 'email'}". Add the claim, or name another one in \`mapping.email\`.`,
      { cause: { check: 'email' } },
    )
  for (const address of named) {
    const place = await placeAddress(ctx, row, address)
    if (place === 'own' || (place === 'free' && row.otherDomains)) continue
    throw new SsoRefused(
      place === 'free'
        ? 'sso: the address is in a domain that the organization has not proved. Prove the domain, or set `otherDomains`.'
        : 'sso: the address is in no domain of this connection.',
      { cause: { check: 'domain' } },
    )
  }
}

/**
 * Who is linked can be signed in by the organization from then on. Any organization may have a connection with `otherDomains`, and a page of this app that leads to
 * it: a user of none of its domains must be a member.
 */
async function assertOwnUser(ctx: AnyContext, row: Row<ConnectionRow>, { id: userId, email }: User): Promise<void> {
  const { organizationId } = row
  if (organizationId === '' || (await placeAddress(ctx, row, email)) === 'own') return
  const member = userId === undefined ? null : await organizationsOf(ctx)?.findMember(ctx, { organizationId, userId })
  if (!member || member.suspended)
    throw new SsoRefused('sso: the user is no member of the organization, and has no address in its domains.')
}

/** A user with an address elsewhere belongs to the organization as its member alone: who has left it keeps the account, and the organization opens it no more. */
async function assertNotDeparted(ctx: AnyContext, row: Row<ConnectionRow>, { id: userId, email }: User): Promise<void> {
  const { organizationId } = row
  if (organizationId === '' || userId === undefined || (await placeAddress(ctx, row, email)) === 'own') return
  if (await organizationsOf(ctx)?.findDeparture(ctx, { organizationId, userId }))
    throw new SsoRefused('sso: the user has left the organization, and has no address in its domains.')
}

/** Just-in-time membership, with the role of the groups. A suspended member stays out. */
async function makeMember(ctx: AnyContext, row: Row<ConnectionRow>, { user, profile }: Login): Promise<void> {
  const organizations = organizationsOf(ctx)
  if (!organizations || user.id === undefined) return
  const member = { organizationId: row.organizationId, userId: user.id }
  const { role } = mapUser(row, profile ?? {})
  const found = await organizations.findMember(ctx, member)
  if (found?.suspended) throw new SsoRefused('sso: the membership of the user is suspended.')
  // Who was removed comes back by an invitation or by the directory, and not by a sign-in.
  if (!found && row.join && (await organizations.findDeparture(ctx, member)) !== 'removed') await addMember(ctx, { ...member, role })
  else if (found && row.roles.sync && found.role !== 'owner' && found.role !== role) await organizations.setRole(ctx, { ...member, role })
}

async function addMember(ctx: AnyContext, member: { organizationId: string; userId: string; role: string }): Promise<void> {
  const organizations = organizationsOf(ctx)!
  holdEnding(ctx)
  try {
    await organizations.addMember(ctx, member)
  } catch (error) {
    // Another sign-in of the same user was faster.
    if (!(await organizations.findMember(ctx, member))) throw error
  }
}
