/** Bulk requests (RFC 7644 section 3.7): operations one after the other, each on its own. */
import { scimResponse } from './answers.ts'
import { ScimError, toErrorBody, toHttpError } from './errors.ts'
import { createGroup, deleteGroup, patchGroup, replaceGroup } from './groups.ts'
import { baseOf } from './representation.ts'
import { assertMessage } from './resource.ts'
import { groupType } from './schemas.ts'
import { readSentPatch, readSentResource } from './sent.ts'
import { assertStanding, type Caller } from './caller.ts'
import { createUser, deleteUser, patchUser, replaceUser } from './users.ts'
import { toEtag } from './versions.ts'

const responseSchema = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse'

const maxDepth = 12

type Outcome = { id: string; version: number } | undefined
type Ids = Map<string, string>

/** Serves `POST /Bulk`. Later operations may name the result of an earlier one as `bulkId:<id>`. */
export async function runBulk(caller: Caller, body: Record<string, unknown>): Promise<Response> {
  const { Operations: operations, failOnErrors } = body
  if (!Array.isArray(operations)) throw new ScimError(400, '"Operations" must be a list.', 'invalidSyntax')
  if (operations.length > caller.options.bulk) throw new ScimError(413, `More than ${caller.options.bulk} operations.`, 'tooMany')
  const most = Number.isInteger(failOnErrors) && Number(failOnErrors) > 0 ? Number(failOnErrors) : Infinity
  const ids: Ids = new Map()
  assertMessage(body['schemas'], 'BulkRequest')
  const answers: Record<string, unknown>[] = []
  for (const one of sortByReferences(operations.map((each) => Object(each) as Record<string, unknown>))) {
    if (answers.filter(({ response }) => response !== undefined).length >= most) break
    answers.push(await runOne(caller, one, ids))
  }
  const rejected = answers.filter(({ response }) => response !== undefined).length
  const { id: directoryId, organizationId } = caller.directory
  const details = { directoryId, organizationId, operations: answers.length, rejected }
  await caller.ctx.emit('noted', { name: 'scim.bulk', outcome: 'success', details })
  return scimResponse({ schemas: [responseSchema], Operations: answers })
}

/**
 * An operation may name the result of a later one: that one is carried out first. Operations in a circle come last, and the first of them gets 409. Otherwise the order is
 * that of the request.
 */
function sortByReferences(operations: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  const creations = new Set(operations.map(({ bulkId }) => bulkId).filter((id) => typeof id === 'string'))
  const waits = operations.map((operation) => ({ operation, needs: listReferences([operation['path'], operation['data']], creations) }))
  const sorted: Record<string, unknown>[] = []
  const done = new Set<unknown>()
  let waiting = waits
  for (let before = -1; waiting.length !== before;) {
    before = waiting.length
    waiting = waiting.filter(({ operation, needs }) => {
      if (needs.some((id) => !done.has(id))) return true
      sorted.push(operation)
      done.add(operation['bulkId'])
      return false
    })
  }
  return [...sorted, ...waiting.map(({ operation }) => operation)]
}

function listReferences(value: unknown, known: ReadonlySet<unknown>, depth = 0): string[] {
  if (depth > maxDepth) return []
  if (typeof value === 'string') return [...value.matchAll(/bulkId:([^/\s]+)/g)].map(([, id]) => id ?? '').filter((id) => known.has(id))
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap((one) => listReferences(one, known, depth + 1)) : []
}

async function runOne(caller: Caller, operation: Record<string, unknown>, ids: Ids): Promise<Record<string, unknown>> {
  const method = String(operation['method']).toUpperCase()
  const { bulkId } = operation
  const head = { method, ...(typeof bulkId === 'string' && { bulkId }) }
  // Of a failure too, unless it created nothing: RFC 7644 section 3.7.
  let location: string | undefined
  try {
    const [, kind, given] = /^\/(Users|Groups)(?:\/([\w:-]{1,128}))?$/.exec(String(operation['path'])) ?? []
    if (!kind) throw new ScimError(400, '"path" must be /Users, /Groups, or one resource of these.', 'invalidPath')
    if (method === 'POST' && typeof bulkId !== 'string') throw new ScimError(400, 'A POST needs a "bulkId".', 'invalidSyntax')
    const id = given === undefined ? '' : (resolveIds(given, ids) as string)
    if (method !== 'POST') location = `${baseOf(caller)}/${kind}/${id}`
    await assertStanding(caller)
    const outcome = await carryOut(
      { ...caller, ifMatch: readVersion(operation['version'], method) },
      { kind, method, id, data: resolveIds(operation['data'], ids) },
    )
    if (method === 'POST' && outcome) ids.set(String(bulkId), outcome.id)
    location = `${baseOf(caller)}/${kind}/${outcome?.id ?? id}`
    const status = method === 'POST' ? '201' : method === 'DELETE' ? '204' : '200'
    return { ...head, location, ...(outcome && { version: toEtag(outcome.version) }), status }
  } catch (error) {
    const known = toHttpError(error) ?? logFailure(caller, error)
    const body = toErrorBody(known.status, known.message, known instanceof ScimError ? known.scimType : undefined)
    return { ...head, ...(location !== undefined && { location }), status: String(known.status), response: body }
  }
}

/** RFC 7644 section 3.7: the version that the operation changes, and no other one. */
function readVersion(version: unknown, method: string): string | null {
  if (version === undefined || version === null || method === 'POST') return null
  if (typeof version === 'string') return version
  throw new ScimError(400, '"version" must be the version of a resource.', 'invalidVers')
}

// What earlier operations did stays done, and the client must learn of it.
function logFailure({ ctx }: Caller, error: unknown): ScimError {
  ctx.logger.error(error instanceof Error ? error : new Error(String(error)))
  return new ScimError(500, 'The server failed. Try again.')
}

async function carryOut(
  caller: Caller,
  { kind, method, id, data }: { kind: string; method: string; id: string; data: unknown },
): Promise<Outcome> {
  const isUser = kind === 'Users'
  const type = isUser ? caller.options.userType : groupType
  switch (method) {
    case 'POST':
      return isUser
        ? createUser(caller, await readSentResource(caller, type, data))
        : createGroup(caller, await readSentResource(caller, type, data))
    case 'PUT':
      return isUser
        ? replaceUser(caller, id, await readSentResource(caller, type, data))
        : replaceGroup(caller, id, await readSentResource(caller, type, data))
    case 'PATCH': {
      const operations = await readSentPatch(caller, type, data)
      return isUser ? patchUser(caller, id, operations) : patchGroup(caller, id, operations)
    }
    case 'DELETE':
      await (isUser ? deleteUser(caller, id) : deleteGroup(caller, id))
      return undefined
    default:
      throw new ScimError(400, '"method" must be POST, PUT, PATCH or DELETE.', 'invalidSyntax')
  }
}

/** Puts real ids in the place of `bulkId:<id>`. Throws ScimError 409 for one that has no result. */
function resolveIds(value: unknown, ids: Ids, depth = 0): unknown {
  if (depth > maxDepth) throw new ScimError(400, `"data" is nested deeper than ${maxDepth} levels.`, 'invalidSyntax')
  if (typeof value === 'string' && value.startsWith('bulkId:')) {
    const id = ids.get(value.slice('bulkId:'.length))
    if (id === undefined) throw new ScimError(409, `No earlier operation has the ${value.slice(0, 100)}.`, 'invalidValue')
    return id
  }
  if (Array.isArray(value)) return value.map((one) => resolveIds(one, ids, depth + 1))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolveIds(one, ids, depth + 1)]))
  return value
}
