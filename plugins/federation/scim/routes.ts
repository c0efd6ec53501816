/** HTTP: `/scim/v2` (RFC 7644 section 3.2). */
import { type Context, type HttpError, type Kernel, type RouteMethod } from 'authkernel/kernel'
import { answerType, groupResponse, groupsResponse, scimResponse, userResponse, usersResponse } from './answers.ts'
import { runBulk } from './bulk.ts'
import { keepCall } from './calls.ts'
import { keepDetection } from './dialects.ts'
import { describeFeatures, describeSchemas, describeTypes } from './discovery.ts'
import { ScimError, toErrorBody, toHttpError } from './errors.ts'
import { createGroup, deleteGroup, patchGroup, replaceGroup, requireGroup } from './groups.ts'
import type { ResolvedOptions } from './options.ts'
import { type Projection, readProjection } from './representation.ts'
import type { ScimResource } from './resource.ts'
import { auditRead, describeRead } from './reads.ts'
import { groupType, type ResourceType } from './schemas.ts'
import { searchRoot } from './root-search.ts'
import { findPage, readQuery } from './search.ts'
import { readSentPatch, readSentResource } from './sent.ts'
import { groupSource, userSource } from './sources.ts'
import { authenticateCaller, type Caller } from './caller.ts'
import { createUser, deleteUser, patchUser, replaceUser, requireUser } from './users.ts'
import { isKnownVersion } from './versions.ts'

type Work = (caller: Caller) => Promise<Response>

/** Adds the routes. Each checks the token of a directory first. */
export function addRoutes(kernel: Kernel, options: ResolvedOptions): void {
  const route = (method: RouteMethod, path: string, work: Work, fallback = false): void =>
    addRoute(kernel, options, { method, path, work, fallback })
  const { userType } = options
  route('GET', '/ServiceProviderConfig', async ({ ctx }) => describeFeatures(ctx, options))
  route('GET', '/ResourceTypes', async ({ ctx }) => describeTypes(ctx, options))
  route('GET', '/ResourceTypes/:id', async ({ ctx }) => describeTypes(ctx, options, ctx.params['id']))
  route('GET', '/Schemas', async ({ ctx }) => describeSchemas(ctx, options))
  route('GET', '/Schemas/:id', async ({ ctx }) => describeSchemas(ctx, options, ctx.params['id']))
  route('GET', '/Users', (caller) => searchUsers(caller, queryOf(caller.ctx)))
  route('POST', '/Users/.search', async (caller) => searchUsers(caller, await readJson(caller.ctx)))
  route('POST', '/Users', async (caller) =>
    userResponse(caller, await createUser(caller, await readBody(caller, userType)), projectionOf(caller.ctx, userType), 201),
  )
  route('GET', '/Users/:id', async (caller) => {
    const row = await requireUser(caller, idOf(caller))
    return isKnownVersion(caller.ctx, row.version)
      ? new Response(null, { status: 304 })
      : userResponse(caller, row, projectionOf(caller.ctx, userType))
  })
  route('PUT', '/Users/:id', async (caller) =>
    userResponse(caller, await replaceUser(caller, idOf(caller), await readBody(caller, userType)), projectionOf(caller.ctx, userType)),
  )
  route('PATCH', '/Users/:id', async (caller) => {
    const operations = await readSentPatch(caller, userType, await readJson(caller.ctx))
    return userResponse(caller, await patchUser(caller, idOf(caller), operations), projectionOf(caller.ctx, userType))
  })
  route('DELETE', '/Users/:id', async (caller) => deleteUser(caller, idOf(caller)).then(noContent))
  route('GET', '/Groups', (caller) => searchGroups(caller, queryOf(caller.ctx)))
  route('POST', '/Groups/.search', async (caller) => searchGroups(caller, await readJson(caller.ctx)))
  route('POST', '/Groups', async (caller) =>
    groupResponse(caller, await createGroup(caller, await readBody(caller, groupType)), projectionOf(caller.ctx, groupType), 201),
  )
  route('GET', '/Groups/:id', async (caller) => {
    const row = await requireGroup(caller, idOf(caller))
    return isKnownVersion(caller.ctx, row.version)
      ? new Response(null, { status: 304 })
      : groupResponse(caller, row, projectionOf(caller.ctx, groupType))
  })
  route('PUT', '/Groups/:id', async (caller) =>
    groupResponse(caller, await replaceGroup(caller, idOf(caller), await readBody(caller, groupType)), projectionOf(caller.ctx, groupType)),
  )
  // Without a body: the answer would repeat all members for each one that is added.
  route('PATCH', '/Groups/:id', async (caller) => {
    const operations = await readSentPatch(caller, groupType, await readJson(caller.ctx))
    const row = await patchGroup(caller, idOf(caller), operations)
    const projection = projectionOf(caller.ctx, groupType)
    return projection.attributes ? groupResponse(caller, row, projection) : noContent()
  })
  route('DELETE', '/Groups/:id', async (caller) => deleteGroup(caller, idOf(caller)).then(noContent))
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)
    route(method, '/Me', async () => {
      throw new ScimError(501, 'A directory is no user: /Me is not served.')
    })
  route('POST', '/.search', async (caller) => searchRoot(caller, await readJson(caller.ctx)))
  for (const path of ['', '/:kind', '/:kind/:id'])
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)
      route(method, path, async ({ ctx }) => refusePath(ctx, options), true)
  if (options.bulk > 0) route('POST', '/Bulk', async (caller) => runBulk(caller, await readJson(caller.ctx)))
}

// Clients read errors of SCIM alone, also for what is not served.
function refusePath({ params }: Context, { bulk }: ResolvedOptions): never {
  const { kind = '', id } = params
  if (kind === 'Bulk' && bulk === 0) throw new ScimError(501, 'Bulk requests are not served.')
  const allowed = allowedMethods.get(id === undefined ? kind : `${kind}/:id`)
  if (allowed === undefined) throw new ScimError(404, 'There is no such endpoint.')
  throw new ScimError(405, 'The endpoint has no such method.', undefined, { Allow: allowed })
}

const allowedMethods: ReadonlyMap<string, string> = new Map([
  ['ServiceProviderConfig', 'GET'],
  ['Bulk', 'POST'],
  ['.search', 'POST'],
  ...['Users', 'Groups'].flatMap((kind): [string, string][] => [
    [kind, 'GET, POST'],
    [`${kind}/:id`, 'GET, PUT, PATCH, DELETE'],
  ]),
  ...['Schemas', 'ResourceTypes'].flatMap((kind): [string, string][] => [
    [kind, 'GET'],
    [`${kind}/:id`, 'GET'],
  ]),
])

interface ScimRoute {
  method: RouteMethod
  path: string
  work: Work
  fallback: boolean
}

function addRoute(kernel: Kernel, options: ResolvedOptions, { method, path, work, fallback }: ScimRoute): void {
  kernel.route({
    method,
    path: `/scim/v2${path}`,
    ...(fallback && { fallback }),
    csrf: 'bearer',
    ...(method !== 'GET' && { body: { bytes: options.maxBody } }),
    handler: async (ctx) => inType(ctx, await serve(ctx, options, work)),
    refusal: (ctx, error) => inType(ctx, refuse(error)),
    failure: (ctx, error) =>
      inType(ctx, scimResponse(toErrorBody(error.status < 500 ? 500 : error.status, 'The server failed. Try again.'), 500)),
  })
}

/** Clients that take `application/json` alone get that: RFC 7644 section 3.1. */
function inType(ctx: Context, response: Response): Response {
  if (response.body) response.headers.set('Content-Type', answerType(ctx.request.headers.get('accept')))
  return response
}

async function serve(ctx: Context, options: ResolvedOptions, work: Work): Promise<Response> {
  const caller = await authenticateCaller(ctx, options)
  try {
    await keepDetection(caller)
    const response = await work(caller)
    await keepCall(caller, response.status, null)
    await auditRead(caller, response.status)
    return response
  } catch (error) {
    const known = toHttpError(error)
    await keepCall(caller, known?.status ?? 500, known?.message ?? 'The server failed.')
    throw known ?? error
  }
}

function refuse(error: HttpError): Response {
  const type = error instanceof ScimError ? error.scimType : error.status === 400 ? 'invalidSyntax' : undefined
  return scimResponse(toErrorBody(error.status, error.message, type), error.status, error.headers)
}

async function searchUsers(caller: Caller, given: Readonly<Record<string, unknown>>): Promise<Response> {
  const query = await readQuery(caller.options.userType, given)
  const page = await findPage(userSource(caller), query)
  describeRead(caller, query, page.rows)
  return usersResponse(caller, page, query.projection)
}

async function searchGroups(caller: Caller, given: Readonly<Record<string, unknown>>): Promise<Response> {
  const query = await readQuery(groupType, given)
  const page = await findPage(await groupSource(caller, query.filter), query)
  describeRead(caller, query, page.rows)
  return groupsResponse(caller, page, query.projection)
}

/** The JSON object of a body. Throws ScimError 400. */
async function readJson(ctx: Context): Promise<Record<string, unknown>> {
  const text = await ctx.text()
  try {
    const sent: unknown = JSON.parse(text)
    if (typeof sent === 'object' && sent !== null && !Array.isArray(sent)) return sent as Record<string, unknown>
  } catch {
    // Answered below, as every other text that is no object.
  }
  throw new ScimError(400, 'The body must be a JSON object.', 'invalidSyntax')
}

async function readBody(caller: Caller, type: ResourceType): Promise<ScimResource> {
  return readSentResource(caller, type, await readJson(caller.ctx))
}

function queryOf(ctx: Context): Record<string, unknown> {
  return Object.fromEntries(ctx.url.searchParams)
}

function projectionOf(ctx: Context, type: ResourceType): Projection {
  const { searchParams } = ctx.url
  return readProjection(type, searchParams.get('attributes'), searchParams.get('excludedAttributes'))
}

function idOf({ ctx }: Caller): string {
  return ctx.params['id'] ?? ''
}

function noContent(): Response {
  return new Response(null, { status: 204 })
}
