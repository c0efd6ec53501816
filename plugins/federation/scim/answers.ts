/** Answers in SCIM's media type (RFC 7644 section 8.1). */
import type { Row } from 'authkernel/kernel'
import { readRows } from 'authkernel/kernel/stores'
import { includesAttribute, type Projection, toGroupBody, toMemberBody, toUserBody } from './representation.ts'
import type { Page } from './search.ts'
import type { ScimGroupRow, ScimUserRow } from './tables.ts'
import type { Caller } from './caller.ts'
import { toEtag } from './versions.ts'

interface MixedPage {
  users: Page<ScimUserRow>
  groups: Page<ScimGroupRow>
  startIndex: number
  ofUsers?: Projection | undefined
  ofGroups?: Projection | undefined
}

const everything: Projection = { attributes: undefined, excluded: new Set() }
const parallel = 20
const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse'

const [scimType, jsonType] = ['application/scim+json', 'application/json']

/** The media type of answers, by the header Accept: SCIM's own, unless the client takes general JSON and does not take that. */
export function answerType(accept: string | null): string {
  const names = (accept ?? '').split(',').map((one) => one.split(';')[0]!.trim().toLowerCase())
  return names.includes(jsonType) && !names.includes(scimType) ? jsonType : scimType
}

/** A JSON answer. */
export function scimResponse(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'Content-Type': scimType, ...headers } })
}

/** One user, with its groups. */
export async function userResponse(caller: Caller, row: Row<ScimUserRow>, projection: Projection, status = 200): Promise<Response> {
  const groups = await listGroups(caller, [row], projection)
  const body = toUserBody(caller, row, projection, groups.get(row.id))
  return scimResponse(body, status, resourceHeaders(caller, 'Users', row, status))
}

/** One group. Its members are written page by page, so that a large group needs no memory. */
export function groupResponse(caller: Caller, row: Row<ScimGroupRow>, projection: Projection, status = 200): Response {
  const headers = { 'Content-Type': scimType, ...resourceHeaders(caller, 'Groups', row, status) }
  return new Response(toStream(writeGroup(caller, row, projection)), { status, headers })
}

/** A page of users, with their groups unless the client leaves these out. */
export async function usersResponse(caller: Caller, page: Page<ScimUserRow>, projection: Projection): Promise<Response> {
  const groups = await listGroups(caller, page.rows, projection)
  const resources = page.rows.map((row) => toUserBody(caller, row, projection, groups.get(row.id)))
  return scimResponse({ ...toListHead(page), Resources: resources })
}

/** A page of groups with their members. */
export function groupsResponse(caller: Caller, page: Page<ScimGroupRow>, projection: Projection): Response {
  return new Response(toStream(writeGroups(caller, page, projection)), { headers: { 'Content-Type': scimType } })
}

/** A page of users, and behind them of groups. */
export async function mixedResponse(
  caller: Caller,
  { users, groups, startIndex, ofUsers = everything, ofGroups = everything }: MixedPage,
): Promise<Response> {
  const held = await listGroups(caller, users.rows, ofUsers)
  const bodies = users.rows.map((row) => JSON.stringify(toUserBody(caller, row, ofUsers, held.get(row.id))))
  const total = (users.total ?? 0) + (groups.total ?? 0)
  const head = { schemas: [listSchema], totalResults: total, startIndex, itemsPerPage: users.rows.length + groups.rows.length }
  const parts = async function* (): AsyncGenerator<string> {
    yield `${JSON.stringify(head).slice(0, -1)},"Resources":[${bodies.join(',')}`
    for (const [index, row] of groups.rows.entries()) {
      if (index > 0 || bodies.length > 0) yield ','
      yield* writeGroup(caller, row, ofGroups)
    }
    yield ']}'
  }
  return new Response(toStream(parts()), { headers: { 'Content-Type': scimType } })
}

/** A list that never has a second page: schemas and resource types. */
export function listResponse(resources: readonly unknown[]): Response {
  return scimResponse({
    schemas: [listSchema],
    totalResults: resources.length,
    startIndex: 1,
    itemsPerPage: resources.length,
    Resources: resources,
  })
}

function toListHead({ rows, total, startIndex, nextCursor }: Page<ScimUserRow> | Page<ScimGroupRow>): Record<string, unknown> {
  return {
    schemas: [listSchema],
    ...(total !== undefined && { totalResults: total }),
    ...(startIndex !== undefined && { startIndex }),
    ...(nextCursor !== undefined && { nextCursor }),
    itemsPerPage: rows.length,
  }
}

function resourceHeaders(
  { ctx }: Caller,
  kind: string,
  { id, version }: { id: string; version: number },
  status: number,
): Record<string, string> {
  return { ETag: toEtag(version), ...(status === 201 && { Location: `${ctx.base}/scim/v2/${kind}/${id}` }) }
}

/** Groups by user: one query by an index for each user, and one for the groups of all of them. None where the directory has no groups. */
async function listGroups(
  { ctx, directory }: Caller,
  users: readonly Row<ScimUserRow>[],
  projection: Projection,
): Promise<Map<string, Row<ScimGroupRow>[]>> {
  const found = new Map<string, Row<ScimGroupRow>[]>()
  if (directory.groups === 0 || !includesAttribute(projection, 'groups')) return found
  const ids = new Map<string, string[]>()
  for (let at = 0; at < users.length; at += parallel)
    await Promise.all(
      users.slice(at, at + parallel).map(async ({ id }) => {
        const { rows } = await ctx.records('scimMember').find({ where: { scimUserId: id }, limit: 500 })
        ids.set(
          id,
          rows.map(({ groupId }) => groupId),
        )
      }),
    )
  const wanted = [...new Set([...ids.values()].flat())]
  const groups = new Map<string, Row<ScimGroupRow>>()
  for (let at = 0; at < wanted.length; at += 500)
    for (const group of await ctx.records('scimGroup').getMany(wanted.slice(at, at + 500))) groups.set(group.id, group)
  for (const [id, of] of ids)
    found.set(
      id,
      of.flatMap((one) => groups.get(one) ?? []),
    )
  return found
}

async function* writeGroups(caller: Caller, page: Page<ScimGroupRow>, projection: Projection): AsyncGenerator<string> {
  yield `${JSON.stringify(toListHead(page)).slice(0, -1)},"Resources":[`
  for (const [index, row] of page.rows.entries()) {
    if (index > 0) yield ','
    yield* writeGroup(caller, row, projection)
  }
  yield ']}'
}

async function* writeGroup(caller: Caller, row: Row<ScimGroupRow>, projection: Projection): AsyncGenerator<string> {
  const head = JSON.stringify(toGroupBody(caller, row, projection))
  if (!includesAttribute(projection, 'members')) {
    yield head
    return
  }
  yield `${head.slice(0, -1)},"members":[`
  let separator = ''
  for await (const { scimUserId } of readRows(caller.ctx.records('scimMember'), { where: { groupId: row.id } })) {
    yield separator + JSON.stringify(toMemberBody(caller, scimUserId))
    separator = ','
  }
  yield ']}'
}

function toStream(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    cancel: async () => void (await parts.return(undefined)),
  })
}
