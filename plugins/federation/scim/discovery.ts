/** What a client can find out about the server: features, resource types, schemas (RFC 7644 section 4). */
import type { Context } from 'authkernel/kernel'
import { listResponse, scimResponse } from './answers.ts'
import { ScimError } from './errors.ts'
import type { ResolvedOptions } from './options.ts'
import { groupType, type ResourceType, type ScimSchema } from './schemas.ts'
import { maxCount } from './search.ts'

const core = 'urn:ietf:params:scim:schemas:core:2.0'

/** `/ServiceProviderConfig`. */
export function describeFeatures(ctx: Context, { bulk, maxBody }: ResolvedOptions): Response {
  return scimResponse({
    schemas: [`${core}:ServiceProviderConfig`],
    patch: { supported: true },
    bulk: { supported: bulk > 0, maxOperations: bulk, maxPayloadSize: maxBody },
    filter: { supported: true, maxResults: maxCount },
    changePassword: { supported: false },
    sort: { supported: true },
    etag: { supported: true },
    pagination: { cursor: true, index: true, defaultPaginationMethod: 'index', defaultPageSize: 100, maxPageSize: maxCount },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'Bearer token',
        description: 'A token of the directory, in the header Authorization (RFC 6750).',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
      ...(ctx.app.services.resourceTokens
        ? [
            {
              type: 'oauth2',
              name: 'OAuth 2.0 client credentials',
              description: 'An access token of a client of this app, with the scope scim.read or scim.write (RFC 6749 section 4.4).',
              specUri: 'https://www.rfc-editor.org/info/rfc6749',
              primary: false,
            },
          ]
        : []),
    ],
    meta: { resourceType: 'ServiceProviderConfig', location: `${ctx.base}/scim/v2/ServiceProviderConfig` },
  })
}

/** `/ResourceTypes`, or one of them. */
export function describeTypes(ctx: Context, { userType }: ResolvedOptions, name?: string): Response {
  assertNoFilter(ctx)
  const all = [userType, groupType].map((type) => toTypeBody(ctx, type))
  return name === undefined ? listResponse(all) : scimResponse(findOne(all, name))
}

/** `/Schemas`, or one of them. */
export function describeSchemas(ctx: Context, { userType }: ResolvedOptions, id?: string): Response {
  assertNoFilter(ctx)
  const all = [userType.core, ...userType.extensions, groupType.core].map((schema) => toSchemaBody(ctx, schema))
  return id === undefined ? listResponse(all) : scimResponse(findOne(all, id))
}

// RFC 7644 section 4: what describes the server is read as a whole.
function assertNoFilter({ url }: Context): void {
  if (url.searchParams.has('filter')) throw new ScimError(403, 'Descriptions cannot be filtered.')
}

function findOne<T extends { id: string }>(all: readonly T[], id: string): T {
  const found = all.find((one) => one.id.toLowerCase() === id.toLowerCase())
  if (!found) throw new ScimError(404, 'There is no such description.')
  return found
}

function toTypeBody(ctx: Context, { name, endpoint, core: schema, extensions }: ResourceType): { id: string } & Record<string, unknown> {
  return {
    schemas: [`${core}:ResourceType`],
    id: name,
    name,
    description: schema.description,
    endpoint,
    schema: schema.id,
    ...(extensions.length > 0 && { schemaExtensions: extensions.map(({ id }) => ({ schema: id, required: false })) }),
    meta: { resourceType: 'ResourceType', location: `${ctx.base}/scim/v2/ResourceTypes/${name}` },
  }
}

function toSchemaBody(ctx: Context, { id, name, description, attributes }: ScimSchema): { id: string } & Record<string, unknown> {
  return {
    schemas: [`${core}:Schema`],
    id,
    name,
    description,
    attributes,
    meta: { resourceType: 'Schema', location: `${ctx.base}/scim/v2/Schemas/${id}` },
  }
}
