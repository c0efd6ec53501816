/** What a client asks for away from the authorization endpoint: scopes, resources and details of a form. */
import type { Context } from 'authkernel/kernel'
import { readDetails } from './authorization-details.ts'
import type { Client } from './clients.ts'
import { OAuthRefusal } from './errors.ts'
import { type AuthorizationDetail, canonicalResource, type Resource, type ResolvedOptions } from './options.ts'
import { scopesAndAudiences } from './request.ts'

/** What a user is asked to allow. */
export interface WantedAccess {
  scopes: string[]
  audiences: string[]
  details: AuthorizationDetail[]
}

/** Throws OAuthRefusal `invalid_target`, `invalid_authorization_details` and `invalid_scope`. */
export function readWantedAccess(ctx: Context, options: ResolvedOptions, client: Client, params: URLSearchParams): WantedAccess {
  const resources = params.getAll('resource').map((name) => options.resources.get(canonicalResource(name)))
  if (resources.some((resource) => !resource)) throw new OAuthRefusal('invalid_target', 'The resource is unknown.')
  const details = readDetails(options, client, params.get('authorization_details') ?? undefined)
  if (typeof details === 'string') throw new OAuthRefusal('invalid_authorization_details', details)
  const granted = scopesAndAudiences(ctx.base, options, client, params.get('scope') ?? client.defaultScope, resources as Resource[])
  if (!granted) throw new OAuthRefusal('invalid_scope', 'The scope has one that the client may not have.')
  const named = details.flatMap(({ type }) => options.authorizationDetails.get(type)?.resource ?? [])
  return { scopes: granted.scopes, audiences: [...new Set([...granted.audiences, ...named])], details }
}
