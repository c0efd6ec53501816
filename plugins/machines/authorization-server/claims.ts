/** Who the user is, as a client learns it: the subject, and claims by scope (OpenID Connect Core sections 5.4 and 8.1). */
import { type AnyContext, toBase64Url, type User } from 'authkernel/kernel'
import { hkdf } from 'authkernel/kernel/protocols'
import type { Client } from './clients.ts'
import type { ResolvedOptions } from './options.ts'

/** Claims that the host cannot replace. */
const ownClaims: ReadonlySet<string> = new Set([
  'iss',
  'sub',
  'aud',
  'exp',
  'iat',
  'nbf',
  'jti',
  'nonce',
  'auth_time',
  'acr',
  'amr',
  'azp',
  'sid',
  'at_hash',
  'c_hash',
  'cnf',
  'act',
  'events',
  'client_id',
  'scope',
  'org_id',
])

/** `sub` for a client. A pairwise one depends on the host of the redirect URIs and on `pairwiseSalt`, so that clients cannot compare users. */
export async function subjectFor(
  { pairwiseSalt }: Pick<ResolvedOptions, 'pairwiseSalt'>,
  { id, metadata }: Client,
  userId: string,
): Promise<string> {
  if (metadata.subject_type === 'public' || pairwiseSalt === undefined) return userId
  const hosts = [...new Set(metadata.redirect_uris.map((uri) => new URL(uri).host))]
  // Section 8.1: several hosts need a `sector_identifier_uri`, which this server does not read. Then the client is a sector of its own.
  const sector = hosts.length === 1 ? `host ${hosts[0]}` : `client ${id}`
  return toBase64Url(await hkdf(pairwiseSalt, 'authkernel pairwise', JSON.stringify([sector, userId]), 32))
}

/** Claims of the user that the scopes open. An address of an unverified email says so. */
export async function userClaims(
  ctx: AnyContext,
  { claims }: Pick<ResolvedOptions, 'claims'>,
  { id }: Client,
  user: User,
  { scopes, requested }: { scopes: readonly string[]; requested: readonly string[] },
): Promise<Record<string, unknown>> {
  const more = claims ? await claims({ user, client: id, scopes, requested, ctx }) : {}
  const verified = (user as { emailVerified?: Date | boolean | null }).emailVerified
  const wants = (scope: string, names: readonly string[]): boolean =>
    scopes.includes(scope) || names.some((name) => requested.includes(name))
  return {
    ...Object.fromEntries(Object.entries(more).filter(([name]) => !ownClaims.has(name))),
    ...(wants('profile', ['name', 'picture']) && { ...(user.name && { name: user.name }), ...(user.image && { picture: user.image }) }),
    ...(wants('email', ['email', 'email_verified']) && user.email && { email: user.email, email_verified: Boolean(verified) }),
  }
}
